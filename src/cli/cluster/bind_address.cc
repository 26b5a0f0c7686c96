#include "cli/cluster/bind_address.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cli {

Result<std::optional<BindAddress>> parse_bind_address(const std::string& text) {
  if (text == "0" || text.empty()) return std::nullopt;
  const auto colon = text.rfind(':');
  const auto port = colon == std::string::npos
                        ? std::nullopt
                        : parse_int(std::string_view(text).substr(colon + 1));
  if (!port || *port < 0 || *port > 65535) {
    return fail(
        ErrorCode::BadRequest,
        fmt::format("\"{}\" is not an address to bind to, like 127.0.0.1:8080", printable(text)));
  }
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return BindAddress{.host = std::move(host), .port = static_cast<std::uint16_t>(*port)};
}

Result<std::unique_ptr<net::Listener>> listen_at(const BindAddress& address, const Listen& listen) {
  if (!address.host.empty()) return listen({.address = address.host, .port = address.port});
  auto everywhere = listen({.address = "::", .port = address.port});
  if (everywhere) return everywhere;
  // A port that is taken is so in either family; the second answer says so too.
  return listen({.address = "0.0.0.0", .port = address.port});
}

}  // namespace muster::cli
