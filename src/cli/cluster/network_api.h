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

// The embedded API for those who do not own the home: TLS and tokens on the loopback interface, and
// for pods through a forwarder on their bridge. The ports are kept in the home, so that a restart
// is found again. Lives on the context's loop; the core outlives it. Ends with close().
class NetworkApi {
 public:
  // Conflict when that port is somebody else's; without one, any will do. Leaves a kubeconfig for
  // the owner in the home.
  static Result<std::unique_ptr<NetworkApi>> start(Context& context, server::Core& core,
                                                   const server::Credentials& credentials,
                                                   net::TlsContext tls,
                                                   std::optional<std::uint16_t> port);
  // Lets the pods of the bridge in.
  Result<void> serve_pods(const node::Bridge& bridge);

  [[nodiscard]] node::NodeOptions::Endpoint for_host() const;
  [[nodiscard]] node::NodeOptions::Endpoint for_pods() const;
  Task<void> close();

 private:
  NetworkApi(Context& context, server::Core& core, const server::Credentials& credentials);
  Result<void> remember_ports() const;

  Context& context_;
  server::Gatekeeper gate_;
  server::HttpFront front_;
  std::unique_ptr<net::HttpServer> http_;
  std::unique_ptr<node::Forwarder> forwarder_;
  std::string bridge_address_;
};

// The kubeconfig of the home's owner.
std::string kubeconfig_path(const std::string& home);

}  // namespace muster::cli
