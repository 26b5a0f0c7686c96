#include "node/agent/pod_range.h"

#include "rt/wait.h"

namespace muster::node {

namespace {

constexpr Duration kPatience = std::chrono::seconds(2);
constexpr Duration kPause = std::chrono::milliseconds(100);

}  // namespace

std::string pod_range_of(const json::Value& node) {
  const auto& spec = node["spec"];
  for (const auto& range : spec["podCIDRs"].as_array()) {
    if (!range.as_string().contains(':')) return range.as_string();
  }
  const auto& range = spec["podCIDR"].as_string();
  return range.contains(':') ? "" : range;
}

Task<Result<std::string>> wait_for_pod_range(rt::Loop& loop, Registration& registration) {
  const auto latest = loop.monotonic() + kPatience;
  while (true) {
    const auto node = CO_TRY(co_await registration.ensure_node());
    auto range = pod_range_of(*node);
    if (!range.empty() || loop.monotonic() >= latest) co_return range;
    CO_TRY(co_await rt::sleep_for(loop, kPause));
  }
}

}  // namespace muster::node
