#pragma once

#include <memory>
#include <string>

#include "agent/environment.h"
#include "base/error.h"
#include "json/value.h"
#include "net/http_client.h"
#include "rt/pool.h"
#include "rt/real_loop.h"
#include "rt/task.h"

namespace muster::agent {

// Where every pod finds its token, the cluster's CA and its own namespace.
inline constexpr const char* kServiceAccountDirectory =
    "/var/run/secrets/kubernetes.io/serviceaccount";

// The pod's own namespace; empty when no service account is mounted.
std::string pod_namespace(const std::string& service_account = kServiceAccountDirectory);

struct KubernetesApiOptions {
  std::string service_account = kServiceAccountDirectory;
  // How long an API that cannot be reached, or says that it is busy, is asked again.
  Duration patience = std::chrono::seconds(10);
};

// The cluster's API as a pod reaches it. Lives on its loop; close() it before it is destroyed.
class KubernetesApi {
 public:
  // By KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT_HTTPS and the mounted CA.
  static Result<std::unique_ptr<KubernetesApi>> create(rt::RealLoop& loop, rt::Pool& pool,
                                                       const Environment& environment,
                                                       KubernetesApiOptions options = {});

  // The PodList of a namespace. The token is read anew each time: it is replaced as it ages.
  Task<Result<json::Value>> list_pods(std::string ns, std::string label_selector);
  Task<void> close() { return client_.close(); }

 private:
  KubernetesApi(rt::RealLoop& loop, std::unique_ptr<net::Connector> connector,
                KubernetesApiOptions options)
      : loop_(loop), client_(loop, std::move(connector)), options_(std::move(options)) {}

  Task<Result<net::HttpResponse>> get(std::string target);
  Task<Result<net::HttpResponse>> get_patiently(std::string target);

  rt::RealLoop& loop_;
  net::HttpClient client_;
  KubernetesApiOptions options_;
};

// Why a list of pods was refused, and what to do about it. For messages; pure.
Error refused_list(int status, const std::string& body, const std::string& ns,
                   const std::string& service_account);

}  // namespace muster::agent
