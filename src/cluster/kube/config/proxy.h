#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cluster/kube/config/client_config.h"
#include "net/tunnel.h"

namespace muster::cluster::kube {

// http://[USER:PASSWORD@]HOST[:PORT], or HOST[:PORT] alone. An error never quotes the password.
Result<net::HttpProxy> parse_proxy(std::string_view url);

// What the environment says of proxies, handed in.
struct ProxyEnvironment {
  std::string https_proxy;  // HTTPS_PROXY, else https_proxy
  std::string no_proxy;     // NO_PROXY, else no_proxy
};

// The proxy on the way to a server, as Go programs read the environment: none to this machine
// (localhost, 127.0.0.0/8, ::1, UNIX sockets), none to what NO_PROXY names: hosts with everything
// below them, .suffixes, addresses, CIDR ranges, each with an optional port, or * for everything.
Result<std::optional<net::HttpProxy>> proxy_for(const Server& server,
                                                const ProxyEnvironment& environment);

}  // namespace muster::cluster::kube
