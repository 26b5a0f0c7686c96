#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"

namespace muster::cli {

struct BindAddress {
  std::string host;
  std::uint16_t port = 0;
};

// Where pages are served, as Kubernetes' own programs are told: 127.0.0.1:8080, :8080 on all
// addresses; nothing for 0 and for an empty text: nowhere. BadRequest says what would be right.
Result<std::optional<BindAddress>> parse_bind_address(const std::string& text);

}  // namespace muster::cli
