#include "node/agent/declared.h"

#include <fmt/format.h>

#include "api/pod.h"
#include "base/strings.h"

namespace muster::node {

std::string declared_resources(const NodeOptions& options) {
  std::vector<std::string> parts;
  for (const auto& [name, amount] : options.declared)
    parts.push_back(fmt::format("{}={}", name, amount));
  return join(parts, ",");
}

std::string declared_resources(const json::Value& pod, const NodeOptions& options) {
  if (options.declared.empty()) return "";
  std::vector<std::string> parts;
  for (const auto& [name, amount] : api::requests_of(pod["spec"])) {
    if (options.declared.contains(name) && amount.whole() > 0)
      parts.push_back(fmt::format("{}={}", name, amount.whole()));
  }
  return join(parts, ",");
}

std::string declared_message(const std::string& resources) {
  return fmt::format("{} declared with --capacity, not real: there is no such device", resources);
}

}  // namespace muster::node
