#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::node {

// The bit of a capability by its name, with or without CAP_ before it; nothing: Linux has none of
// that name.
std::optional<unsigned> capability_bit(std::string_view name);
bool is_all_capabilities(std::string_view name);

inline constexpr unsigned kSysAdmin = 21;

std::uint64_t all_capabilities();

}  // namespace muster::node
