#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "cli/context.h"
#include "net/http_server.h"
#include "node/agent/options.h"
#include "node/network/forwarder.h"
#include "node/runtime/types.h"
#include "rt/task.h"
#include "server/access/credentials.h"
#include "server/access/gatekeeper.h"
#include "server/core.h"
#include "server/http/http_front.h"

namespace muster::cli {

// What the API of this home proves itself with; made with a new home.
Result<server::Credentials> api_credentials(Context& context, const std::string& service_range);

// Where the API listens: that port, or where none is given the one of last time, or any.
Result<std::unique_ptr<net::Listener>> listen_on_loopback(Context& context,
                                                          std::optional<std::uint16_t> wanted);

// The embedded API for those who do not own the home: TLS and tokens on the loopback interface, and
// for pods through a forwarder on their bridge. The ports are kept in the home, so that a restart
// is found again. Lives on the context's loop; the core outlives it. Ends with close().
class NetworkApi {
 public:
  // Takes the ports: that one, or where none is given the ones of last time, or any. Leaves a
  // kubeconfig for the owner in the home.
  static Result<std::unique_ptr<NetworkApi>> bind(Context& context, server::Core& core,
                                                  const server::Credentials& credentials,
                                                  std::optional<std::uint16_t> port,
                                                  const node::Bridge& bridge);
  // Begins to answer when the first client has come, which waits meanwhile: OpenSSL takes
  // milliseconds and megabytes to wake up, and most homes never need it.
  Task<Result<void>> serve(net::Identity identity);

  void set_metrics_source(server::MetricsSource* source) { front_.set_metrics_source(source); }

  [[nodiscard]] node::NodeOptions::Endpoint for_host() const;
  [[nodiscard]] node::NodeOptions::Endpoint for_pods() const;
  Task<void> close();

 private:
  NetworkApi(Context& context, server::Core& core, const server::Credentials& credentials);
  Result<void> serve_pods(const node::Bridge& bridge);

  Context& context_;
  server::Gatekeeper gate_;
  server::HttpFront front_;
  std::unique_ptr<net::Listener> listener_;  // until it is served
  std::uint16_t port_ = 0;
  std::unique_ptr<net::HttpServer> http_;
  std::unique_ptr<node::Forwarder> forwarder_;
  std::string bridge_address_;
};

// The kubeconfig of the home's owner.
std::string kubeconfig_path(const std::string& home);

}  // namespace muster::cli
