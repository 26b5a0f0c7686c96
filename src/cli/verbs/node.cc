#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/version.h"
#include "cli/cluster/kube_client.h"
#include "cli/cluster/node_options.h"
#include "cli/cluster/stalls.h"
#include "cli/history/quota.h"
#include "cli/print_error.h"
#include "cli/verbs/verbs.h"
#include "net/http_server.h"
#include "net/stream.h"
#include "node/access/node_gate.h"
#include "node/agent/agent.h"
#include "node/agent/pod_range.h"
#include "node/exec/exec_endpoint.h"
#include "node/linux/netlink.h"
#include "node/logs/log_endpoint.h"
#include "node/network/forwarder.h"
#include "node/runtime/runtime.h"

namespace muster::cli {
namespace {

using cluster::kube::KubeCluster;

constexpr int kSmallestBlock = 29;
constexpr std::int64_t kOwnAddresses = 3;  // of the network, the bridge, and for all

Result<std::string> read_pem(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::NotFound, fmt::format("--client-ca: cannot read {}", path));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The kubelet's endpoint for logs and exec; nothing without a CA of its clients. Who shows no
// certificate is asked for a token.
Result<std::unique_ptr<net::Listener>> listen_as_kubelet(Context& context,
                                                         const NodeVerbOptions& options) {
  if (options.client_ca.empty()) return std::unique_ptr<net::Listener>();
  const auto identity = TRY(net::make_self_signed(
      {.common_name = options.name, .ip_addresses = {options.address}}, context.loop.now()));
  auto tls = TRY(net::TlsContext::server({.identity = identity,
                                          .client_ca_pem = TRY(read_pem(options.client_ca)),
                                          .client_certificate = net::ClientCertificate::Optional}));
  return net::listen_tcp(context.loop,
                         {.address = options.address, .tls = std::move(tls), .keep_alive = true});
}

// Lets pods reach the API server that this node itself talks to; none where a pod could not speak
// with it: over a socket, or below a path of a proxy.
Result<std::unique_ptr<node::Forwarder>> forward_api(Context& context,
                                                     const cluster::kube::ClientConfig& config,
                                                     const node::Bridge& bridge) {
  const cluster::kube::Server& server = config.server;
  if (server.is_socket() || !server.prefix.empty()) return std::unique_ptr<node::Forwarder>();
  return node::Forwarder::start(
      context.loop,
      {.address = bridge.address,
       .device = bridge.device,
       .target = net::tcp_connector(context.loop, context.pool,
                                    {.host = server.host, .port = server.port}, config.proxy),
       .log = context.log.named("forwarder")});
}

// What is served, for whom and where: the first line, so that a wrong cluster shows at once.
std::string greeting(const cluster::kube::ClientConfig& config, const NodeVerbOptions& options,
                     const net::Listener* listener) {
  const std::string programs =
      listener == nullptr
          ? "logs and exec are not served without --client-ca"
          : fmt::format("logs and exec on https://{}:{}", options.address, listener->port());
  return fmt::format("muster {}: node {} of {}: runs its pods as processes of this machine; {}",
                     kVersion, options.name, describe(config), programs);
}

// The flag's, or what the cluster gives this node, which is made for that; or empty.
Task<std::string> pod_range(Context& context, KubeCluster& cluster,
                            const node::NodeOptions& settings, const NodeVerbOptions& options) {
  if (!options.pod_range.empty()) co_return options.pod_range;
  node::Registration registration(context.loop, cluster, settings, context.log.named("node"));
  const auto given = co_await node::wait_for_pod_range(context.loop, registration);
  if (!given) context.log.warning("asking for the pods' addresses: {}", given.error().message);
  co_return given ? *given : "";
}

// A range that is no larger than a home's block is the block; a node has as many pods as addresses.
Result<void> use_range(std::string& range, node::RuntimeOptions& runtime,
                       node::NodeOptions& settings) {
  if (range.empty()) range = runtime.pod_range;
  runtime.pod_range = range;
  const auto parsed = node::linux::parse_range(range);
  if (!parsed) return fail(parsed.error().in("--pod-cidr"));
  runtime.pod_block = std::max(runtime.pod_block, parsed->prefix);
  if (runtime.pod_block > kSmallestBlock) {
    return fail(ErrorCode::Invalid,
                fmt::format("--pod-cidr {}: a node needs at least a /{}", range, kSmallestBlock));
  }
  const auto addresses = (std::int64_t{1} << (32 - runtime.pod_block)) - kOwnAddresses;
  settings.pods = std::min(settings.pods, addresses);
  return {};
}

Task<Result<void>> serve(Context& context, KubeCluster& cluster, cluster::kube::ClientConfig config,
                         NodeVerbOptions options) {
  auto listener = CO_TRY(listen_as_kubelet(context, options));
  context.log.info("{}", greeting(config, options, listener.get()));
  node::NodeOptions node_settings = CO_TRY(node_options(context, options.name));
  if (!options.taint.empty()) node_settings.taint = CO_TRY(node::parse_taint(options.taint));
  node::RuntimeOptions runtime_options{.home = context.home,
                                       .shim_path = CO_TRY(find_shim()),
                                       .logger = context.log.named("runtime")};
  node_settings.pod_range = co_await pod_range(context, cluster, node_settings, options);
  CO_TRY(use_range(node_settings.pod_range, runtime_options, node_settings));
  if (!options.service_range.empty()) runtime_options.service_range = options.service_range;
  std::error_code error;
  std::filesystem::create_directories(context.home, error);
  auto runtime =
      CO_TRY(node::create_runtime(context.loop, context.pool, std::move(runtime_options)));
  node_settings.host_ip = options.address;
  if (listener) node_settings.endpoint_port = listener->port();
  const auto bridge = runtime->bridge();
  const auto forwarder = CO_TRY(forward_api(context, config, bridge));
  if (forwarder) {
    node_settings.api = {.address = bridge.address, .port = forwarder->port()};
    node_settings.api_of_host = {.address = config.server.host, .port = config.server.port};
  }
  auto agent = CO_TRY(node::NodeAgent::create(
      {.loop = context.loop,
       .cluster = cluster,
       .runtime = *runtime,
       .rng = context.rng,
       .disk = std::make_unique<node::PoolDiskWork>(context.loop, context.pool),
       .log = context.log.named("node")},
      std::move(node_settings)));
  const auto find_pod = [&](const api::ObjectKey& key) { return agent->find_pod(key); };
  node::LogEndpoint logs(context.loop, agent->logs(), find_pod);
  node::ExecEndpoint programs(context.loop, context.rng, agent->programs(), find_pod, logs);
  WithMetrics pages(context.loop, programs);
  node::NodeGate gate(cluster, options.name, pages, context.log.named("access"));
  std::unique_ptr<net::HttpServer> http;
  if (listener) http = std::make_unique<net::HttpServer>(context.loop, std::move(listener), gate);
  if (http) http->start();
  rt::TaskScope watching(context.loop);
  watching.spawn(warn_of_stalls(context.loop, context.log.named("loop")));
  watching.spawn(keep_node_within(context, Quota::from(context)));
  const auto started = co_await agent->start();
  if (started) {
    context.log.info("node {} is registered", options.name);
    rt::Signals signals(context.loop, {SIGINT, SIGTERM});
    [[maybe_unused]] const auto signal = co_await signals.next();
  }
  if (http) co_await http->close();
  co_await watching.close();
  co_await agent->close();
  if (forwarder) co_await forwarder->close();
  co_await runtime->close();
  co_return started;
}

}  // namespace

Task<int> node(Context& context, NodeVerbOptions options) {
  const auto config = client_config(context);
  if (!config) {
    print_error(context.output, config.error());
    co_return exit_code::kFailed;
  }
  auto cluster = open_kube(context, *config);
  if (!cluster) {
    print_error(context.output, cluster.error());
    co_return exit_code::kFailed;
  }
  const auto done = co_await serve(context, **cluster, *config, std::move(options));
  co_await (*cluster)->close();
  if (!done) print_error(context.output, done.error());
  co_return done ? exit_code::kOk : exit_code::kFailed;
}

}  // namespace muster::cli
