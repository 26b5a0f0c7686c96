#include "cli/cluster/network_api.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/fd.h"
#include "base/strings.h"
#include "cli/plane/process_limits.h"
#include "net/stream.h"
#include "server/rules/addresses.h"

namespace muster::cli {
namespace {

constexpr const char* kLoopback = "127.0.0.1";

struct Ports {
  std::uint16_t loopback = 0;
  std::uint16_t bridge = 0;
};

std::string ports_path(const std::string& home) {
  return home + "/api-ports";
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Ports read_ports(const std::string& home) {
  std::istringstream text(read_text(ports_path(home)));
  Ports ports;
  text >> ports.loopback >> ports.bridge;
  return ports;
}

// Private from its first byte on; what a crash leaves of it is written anew at the next start.
Result<void> write_private(const std::string& path, std::string_view text) {
  if (read_text(path) == text) return {};
  const std::string beside = path + ".new";
  ::unlink(beside.c_str());
  const Fd file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid()) return fail_errno("create " + beside);
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fail_errno("write " + beside);
  if (::rename(beside.c_str(), path.c_str()) != 0) return fail_errno("rename " + beside);
  return {};
}

std::string kubeconfig(const server::Credentials& credentials, std::uint16_t port) {
  return fmt::format(
      "apiVersion: v1\n"
      "kind: Config\n"
      "clusters:\n"
      "- name: muster\n"
      "  cluster:\n"
      "    server: https://{}:{}\n"
      "    certificate-authority-data: {}\n"
      "users:\n"
      "- name: muster-admin\n"
      "  user:\n"
      "    token: {}\n"
      "contexts:\n"
      "- name: muster\n"
      "  context:\n"
      "    cluster: muster\n"
      "    user: muster-admin\n"
      "current-context: muster\n",
      kLoopback, port, base64_encode(credentials.ca_pem), credentials.admin_token.reveal());
}

}  // namespace

std::string kubeconfig_path(const std::string& home) {
  return home + "/kubeconfig";
}

Result<std::unique_ptr<net::Listener>> listen_on_loopback(Context& context,
                                                          std::optional<std::uint16_t> wanted) {
  const std::uint16_t port = wanted ? *wanted : read_ports(context.home).loopback;
  auto listener = net::listen_tcp(context.loop, {.address = kLoopback, .port = port});
  // The one of last time may be somebody else's by now.
  if (!listener && !wanted && port != 0)
    return net::listen_tcp(context.loop, {.address = kLoopback});
  return listener;
}

Result<server::Credentials> api_credentials(Context& context, const std::string& service_range) {
  const auto addresses = TRY(server::Addresses::create(service_range));
  return server::load_credentials(
      {.path = context.home + "/api-credentials",
       .dns_names = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                     "kubernetes.default.svc.cluster.local"},
       .ip_addresses = {kLoopback, addresses.first()}},
      context.rng, context.loop.now());
}

NetworkApi::NetworkApi(Context& context, server::Core& core, const server::Credentials& credentials)
    : context_(context),
      gate_(core, credentials.admin_token, context.log.named("access")),
      front_(core, context.rng, &gate_) {}

Result<std::unique_ptr<NetworkApi>> NetworkApi::bind(Context& context, server::Core& core,
                                                     const server::Credentials& credentials,
                                                     std::optional<std::uint16_t> port,
                                                     const node::Bridge& bridge) {
  std::unique_ptr<NetworkApi> api(new NetworkApi(context, core, credentials));
  api->listener_ = TRY(listen_on_loopback(context, port));
  api->port_ = api->listener_->port();
  TRY(write_private(kubeconfig_path(context.home), kubeconfig(credentials, api->port_)));
  TRY(api->serve_pods(bridge));
  return api;
}

Result<void> NetworkApi::serve_pods(const node::Bridge& bridge) {
  forwarder_ = TRY(node::Forwarder::start(
      context_.loop, {.address = bridge.address,
                      .device = bridge.device,
                      .port = read_ports(context_.home).bridge,
                      .target = net::tcp_connector(context_.loop, context_.pool,
                                                   {.host = kLoopback, .port = port_}),
                      .log = context_.log.named("forwarder")}));
  bridge_address_ = bridge.address;
  return write_private(ports_path(context_.home),
                       fmt::format("{} {}\n", port_, forwarder_->port()));
}

Task<Result<void>> NetworkApi::serve(net::Identity identity) {
  CO_TRY(co_await listener_->knocked());
  auto tls = CO_TRY(co_await context_.pool.run(
      context_.loop, [identity] { return net::TlsContext::server({.identity = identity}); }));
  if (!tls) co_return fail(tls.error().in("the certificate of " + context_.home));
  listener_->use_tls(std::move(*tls));
  http_ = std::make_unique<net::HttpServer>(
      context_.loop, std::move(listener_), front_,
      net::HttpServerOptions{.max_connections = connections_of_a_listener(),
                             .log = context_.log.named("https")});
  http_->start();
  co_return Result<void>{};
}

node::NodeOptions::Endpoint NetworkApi::for_host() const {
  return {.address = kLoopback, .port = port_};
}

node::NodeOptions::Endpoint NetworkApi::for_pods() const {
  return {.address = bridge_address_, .port = forwarder_->port()};
}

Task<void> NetworkApi::close() {
  if (forwarder_) co_await forwarder_->close();
  if (http_) co_await http_->close();
}

}  // namespace muster::cli
