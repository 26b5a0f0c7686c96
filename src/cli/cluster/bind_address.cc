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
  return BindAddress{.host = colon == 0 ? "0.0.0.0" : text.substr(0, colon),
                     .port = static_cast<std::uint16_t>(*port)};
}

}  // namespace muster::cli
