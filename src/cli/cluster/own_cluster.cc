#include "cli/cluster/own_cluster.h"

#include <filesystem>

#include "cluster/kube/config/client_config.h"

namespace muster::cli {
namespace {

// An image without a user of its own has the root directory as home, where nobody keeps jobs.
bool has_home(const Context& context) {
  const std::string user = context.env("HOME");
  std::error_code error;
  return !user.empty() && user != "/" && std::filesystem::exists(user + "/.muster", error);
}

}  // namespace

bool means_own_cluster(const Context& context, const std::string& home_flag,
                       const cluster::kube::FileReader& files) {
  const bool says_where = context.wants_cluster() || !home_flag.empty() ||
                          !context.env("MUSTER_HOME").empty() || !context.env("KUBECONFIG").empty();
  if (says_where || context.env("KUBERNETES_SERVICE_HOST").empty() || has_home(context)) {
    return false;
  }
  const auto config = cluster::kube::in_cluster_config(
      context.env("KUBERNETES_SERVICE_HOST"), context.env("KUBERNETES_SERVICE_PORT"), files);
  // Files that are there and no good are told of by whoever opens the cluster.
  return config || config.error().code != ErrorCode::NotFound;
}

}  // namespace muster::cli
