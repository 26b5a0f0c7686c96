#pragma once

#include <cstddef>

#include "json/value.h"

namespace muster::server {

// About how much memory a value takes: its own, its members' and its texts'.
std::size_t footprint(const json::Value& value);

}  // namespace muster::server
