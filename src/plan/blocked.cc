#include "plan/blocked.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::plan {

std::string BlockedNode::ranks_text() const {
  std::string out;
  for (const auto& [role, indexes] : ranks)
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", role, indexes.text());
  return out;
}

json::Value blocked_to_json(const BlockedNodes& nodes) {
  json::Array out;
  for (const auto& [name, node] : nodes) {
    if (out.size() == kMostBlockedNodes) break;
    json::Object ranks;
    for (const auto& [role, indexes] : node.ranks) ranks.set(role, indexes.text());
    out.emplace_back(json::Object{
        {"node", name}, {"since", format_time(node.since)}, {"ranks", std::move(ranks)}});
  }
  return out;
}

BlockedNodes blocked_from_json(const json::Value& value) {
  BlockedNodes nodes;
  for (const json::Value& entry : value.as_array()) {
    const auto since = parse_time(entry["since"].as_string());
    if (!since || entry["node"].as_string().empty()) continue;
    BlockedNode& node = nodes[entry["node"].as_string()];
    node.since = *since;
    for (const auto& [role, indexes] : entry["ranks"].as_object())
      node.ranks[role] = IndexSet::parse(indexes.as_string());
  }
  return nodes;
}

std::string blocked_remedy(const std::string& ns, const std::string& job_uid,
                           const std::string& node) {
  return fmt::format(
      "bring the node back; or, only if that machine is known to be off, remove its pods by force: "
      "kubectl delete pods -n {} -l {}={} --field-selector spec.nodeName={} --force "
      "--grace-period=0",
      ns, labels::kJobUid, job_uid, node);
}

}  // namespace muster::plan
