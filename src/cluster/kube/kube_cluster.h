#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/random.h"
#include "cluster/cluster.h"
#include "cluster/kube/config/client_config.h"
#include "cluster/kube/kube_client.h"
#include "cluster/kube/programs/program_client.h"
#include "net/stream.h"
#include "rt/pool.h"
#include "rt/real_loop.h"

namespace muster::cluster::kube {

struct KubeClusterOptions {
  std::string user_agent = "muster";
  Duration request_timeout = std::chrono::seconds(30);
  RetryOptions retry;
  // Leader election's answer to "may I still write?", asked right before each request and before
  // each TLS record. Leases are exempt. Outlives the cluster.
  const Fence* fence = nullptr;
  // Told of every request that is sent. Outlives the cluster.
  RequestCounts* counts = nullptr;
  // Makes what connects to the server; none: by the config.
  std::function<std::unique_ptr<net::Connector>()> connector;
};

// A Kubernetes API server seen through REST: a real one over TLS and HTTP/2, or the embedded one
// over its UNIX socket. Lives on one loop; watches and logs that it gave may outlive it (they then
// end). close() it before it is destroyed.
class KubeCluster final : public Cluster {
 public:
  // `files` (for a token file), `rng`, `loop` and `pool` outlive it. Connects on first use.
  static Result<std::unique_ptr<KubeCluster>> create(rt::RealLoop& loop, rt::Pool& pool,
                                                     const ClientConfig& config,
                                                     const FileReader& files, Rng& rng,
                                                     KubeClusterOptions options = {});
  explicit KubeCluster(std::unique_ptr<KubeClient> client,
                       std::unique_ptr<ProgramClient> programs = nullptr)
      : client_(std::move(client)), programs_(std::move(programs)) {}

  Task<void> close() { return client_->close(); }
  [[nodiscard]] int in_flight_limit() const { return client_->in_flight_limit(); }

  Task<Result<ListPage>> list(const Resource& resource, ListOptions options) override;
  Task<Result<std::unique_ptr<Watch>>> watch(const Resource& resource,
                                             WatchOptions options) override;
  Task<Result<ObjectPtr>> get(const Resource& resource, ObjectKey key) override;
  Task<Result<ObjectPtr>> create(const Resource& resource, json::Value object) override;
  Task<Result<ObjectPtr>> update(const Resource& resource, json::Value object) override;
  Task<Result<ObjectPtr>> update_status(const Resource& resource, json::Value object) override;
  Task<Result<ObjectPtr>> remove(const Resource& resource, ObjectKey key,
                                 DeleteOptions options) override;
  Task<Result<void>> bind(ObjectKey pod, std::string pod_uid, std::string node) override;
  Task<Result<Token>> create_token(ObjectKey service_account, TokenRequest request) override;
  Task<Result<std::unique_ptr<LogStream>>> log(ObjectKey pod, LogOptions options) override;

  // Only people at a terminal run programs in pods: no part of what every cluster does for us.
  Task<Result<std::unique_ptr<rt::RemoteProgram>>> exec(ObjectKey pod, api::ExecOptions options);

 private:
  Task<Result<ObjectPtr>> write(const Resource& resource, std::string method, std::string target,
                                std::string body);

  std::unique_ptr<KubeClient> client_;
  std::unique_ptr<ProgramClient> programs_;
};

}  // namespace muster::cluster::kube
