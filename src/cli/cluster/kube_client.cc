#include "cli/cluster/kube_client.h"

#include <fmt/format.h>

#include "base/version.h"
#include "cluster/kube/config/files.h"
#include "cluster/kube/config/kubeconfig.h"
#include "cluster/kube/config/proxy.h"

namespace muster::cli {
namespace {

using namespace cluster::kube;

const HostFiles& host_files() {
  static const HostFiles files;
  return files;
}

std::string first_of(const Context& context, const char* name, const char* other) {
  std::string value = context.env(name);
  return value.empty() ? context.env(other) : value;
}

Result<ClientConfig> direct_config(const Context& context) {
  const bool in_pod = !context.env("KUBERNETES_SERVICE_HOST").empty();
  const bool nothing_said = !context.wants_cluster() && context.env("KUBECONFIG").empty();
  if (context.kubeconfig == "" || (nothing_said && in_pod)) {
    return in_cluster_config(context.env("KUBERNETES_SERVICE_HOST"),
                             context.env("KUBERNETES_SERVICE_PORT"), host_files());
  }
  KubeconfigOptions options = kubeconfig_files(context.kubeconfig.value_or(""),
                                               context.env("KUBECONFIG"), context.env("HOME"));
  options.context = context.kube_context.value_or("");
  options.insecure = context.insecure ? Insecure::Allow : Insecure::Refuse;
  return load_kubeconfig(options, host_files());
}

}  // namespace

Result<ClientConfig> client_config(const Context& context) {
  ClientConfig config = TRY(direct_config(context));
  if (config.proxy) return config;  // a kubeconfig's own counts
  config.proxy =
      TRY(proxy_for(config.server, {.https_proxy = first_of(context, "HTTPS_PROXY", "https_proxy"),
                                    .no_proxy = first_of(context, "NO_PROXY", "no_proxy")}));
  return config;
}

std::string describe(const ClientConfig& config) {
  const Server& server = config.server;
  const std::string url = server.is_socket()
                              ? fmt::format("unix://{}", server.socket_path)
                              : fmt::format("https://{}{}", server.authority(), server.prefix);
  return fmt::format("cluster {} ({})", config.context, url);
}

Result<std::unique_ptr<KubeCluster>> open_kube(Context& context, const ClientConfig& config,
                                               KubeClusterOptions options) {
  options.user_agent = fmt::format("muster/{}", kVersion);
  return KubeCluster::create(context.loop, context.pool, config, host_files(), context.rng,
                             std::move(options));
}

}  // namespace muster::cli
