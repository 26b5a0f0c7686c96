#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "net/stream.h"

namespace muster::cli {

struct BindAddress {
  std::string host;  // without brackets; empty: all addresses, of IPv6 and of IPv4
  std::uint16_t port = 0;
};

// Where pages are served, as Kubernetes' own programs are told: 127.0.0.1:8080, [::1]:8080, :8080
// on all addresses; nothing for 0 and for an empty text: nowhere. BadRequest says what would be
// right.
Result<std::optional<BindAddress>> parse_bind_address(const std::string& text);

using Listen = std::function<Result<std::unique_ptr<net::Listener>>(net::TcpListenOptions)>;

// Listens there. All addresses are those of both families, or IPv4's alone where the kernel has no
// other. `listen` is the kernel's, or a test's.
Result<std::unique_ptr<net::Listener>> listen_at(const BindAddress& address, const Listen& listen);

}  // namespace muster::cli
