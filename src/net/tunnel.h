#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/secret.h"
#include "net/stream.h"

namespace muster::net {

// A proxy that carries connections on when it is asked to (CONNECT), speaking plain HTTP itself.
struct HttpProxy {
  std::string host;
  std::uint16_t port = 0;
  Secret authorization;  // what it is shown, as a header's value: Basic …; empty: nothing

  // For messages: proxy http://10.0.0.1:3128.
  [[nodiscard]] std::string describe() const;
};

// As tcp_connector(), through a proxy if there is one: it looks the name up then.
std::unique_ptr<Connector> tcp_connector(rt::RealLoop& loop, rt::Pool& pool, TcpOptions options,
                                         std::optional<HttpProxy> proxy);

// What a proxy is asked: CONNECT to host:port, with its credentials.
std::string tunnel_request(const HttpProxy& proxy, const std::string& authority);

// Asks the proxy at the other end of a connected socket to carry it on to `authority`. When this
// returns the socket is as if it were connected there. No error shows the proxy's credentials.
Task<Result<void>> open_tunnel(rt::RealLoop& loop, int socket, HttpProxy proxy,
                               std::string authority);

}  // namespace muster::net
