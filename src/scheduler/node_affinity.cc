#include "scheduler/node_affinity.h"

#include <algorithm>
#include <optional>

#include "base/strings.h"

namespace muster::scheduler {
namespace {

bool holds(const json::Value& requirement, const std::optional<std::string>& value) {
  const auto& values = requirement["values"].as_array();
  const auto& op = requirement["operator"].as_string();
  const bool listed = value && std::ranges::any_of(values, [&](const json::Value& one) {
                        return one.as_string() == *value;
                      });
  if (op == "In") return listed;
  if (op == "NotIn") return !listed;
  if (op == "Exists") return value.has_value();
  if (op == "DoesNotExist") return !value;
  const auto number = value ? parse_int(*value) : std::nullopt;
  const auto bound = values.size() == 1 ? parse_int(values[0].as_string()) : std::nullopt;
  if (!number || !bound) return false;
  return op == "Gt" ? *number > *bound : op == "Lt" && *number < *bound;
}

// A term without requirements is nobody's.
bool holds_all(const json::Value& term, const std::string& node,
               const std::map<std::string, std::string>& labels) {
  const auto& by_label = term["matchExpressions"].as_array();
  const auto& by_field = term["matchFields"].as_array();
  if (by_label.empty() && by_field.empty()) return false;
  const bool labelled = std::ranges::all_of(by_label, [&](const json::Value& one) {
    const auto found = labels.find(one["key"].as_string());
    return holds(one, found == labels.end() ? std::nullopt : std::optional(found->second));
  });
  return labelled && std::ranges::all_of(by_field, [&](const json::Value& one) {
           return one["key"].as_string() == "metadata.name" && holds(one, node);
         });
}

}  // namespace

bool matches_affinity(const json::Value& required, const std::string& node,
                      const std::map<std::string, std::string>& labels) {
  if (!required.is_object()) return true;
  return std::ranges::any_of(
      required["nodeSelectorTerms"].as_array(),
      [&](const json::Value& term) { return holds_all(term, node, labels); });
}

}  // namespace muster::scheduler
