#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace muster::node {

// What keeps pods from a node unless they tolerate it.
struct Taint {
  std::string key;
  std::string value;
  std::string effect;
};

// KEY[=VALUE]:EFFECT, as kubectl writes it.
Result<Taint> parse_taint(std::string_view text);

// Pods that expect their image to be what they see should not come here by chance.
inline constexpr std::string_view kProcessesTaint = "muster.dev/processes:NoSchedule";

}  // namespace muster::node
