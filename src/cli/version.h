#pragma once

#include <string_view>

namespace muster::cli {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace muster::cli
