#pragma once

#include "cluster/cluster.h"
#include "server/core.h"

namespace muster::cluster {

// The embedded API server as a Cluster: direct calls into its core, which check, default and store
// as for any client. Lives on the core's loop; the core outlives it and every watch made here.
class LocalCluster final : public Cluster {
 public:
  explicit LocalCluster(server::Core& core) : core_(core) {}

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

 private:
  [[nodiscard]] Result<const server::Kind*> kind_of(const Resource& resource) const;

  server::Core& core_;
};

}  // namespace muster::cluster
