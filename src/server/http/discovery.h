#pragma once

#include <optional>
#include <string_view>

#include "json/value.h"
#include "server/kinds.h"

namespace muster::server {

// The answer to /version, /api, /apis, /apis/<group>, /api/v1 and /apis/<group>/<version>; nothing
// for other paths and unknown groups.
std::optional<json::Value> discovery(const Kinds& kinds, std::string_view path);

}  // namespace muster::server
