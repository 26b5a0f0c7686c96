#include "cli/describe/describe_node.h"

#include <set>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "cli/describe/description.h"
#include "cli/tables/node_rows.h"
#include "cli/tables/pod_rows.h"

namespace muster::cli {
namespace {

constexpr std::size_t kLabelWidth = 18;

std::string taint_of(const json::Value& taint) {
  const std::string& value = taint["value"].as_string();
  return fmt::format("{}{}{}:{}", taint["key"].as_string(), value.empty() ? "" : "=", value,
                     taint["effect"].as_string());
}

std::vector<std::string> taints_of(const json::Value& node) {
  std::vector<std::string> taints;
  for (const json::Value& taint : node["spec"]["taints"].as_array())
    taints.push_back(taint_of(taint));
  return taints;
}

std::vector<std::string> addresses_of(const json::Value& node) {
  std::vector<std::string> addresses;
  for (const json::Value& one : node["status"]["addresses"].as_array())
    addresses.push_back(fmt::format("{} {}", one["type"].as_string(), one["address"].as_string()));
  return addresses;
}

std::vector<std::vector<std::string>> condition_rows(const json::Value& node) {
  std::vector<std::vector<std::string>> rows = {{"TYPE", "STATUS", "SINCE", "REASON", "MESSAGE"}};
  for (const json::Value& condition : node["status"]["conditions"].as_array()) {
    rows.push_back({condition["type"].as_string(), condition["status"].as_string(),
                    condition["lastTransitionTime"].as_string(), condition["reason"].as_string(),
                    condition["message"].as_string()});
  }
  return rows;
}

std::string share_of(api::Quantity used, api::Quantity all) {
  if (all.milli() <= 0) return "";
  return fmt::format("{:.0f}%",
                     100.0 * static_cast<double>(used.milli()) / static_cast<double>(all.milli()));
}

// Every resource: what there is, what may be used, what is asked for.
std::vector<std::vector<std::string>> resource_rows(const json::Value& node, const Objects& pods) {
  const Amounts capacity = amounts_in(node["status"]["capacity"]);
  const Amounts allocatable = amounts_in(node["status"]["allocatable"]);
  const Amounts used = requested_by(pods);
  std::set<std::string> names;
  for (const auto* amounts : {&capacity, &allocatable, &used}) {
    for (const auto& [name, amount] : *amounts) names.insert(name);
  }
  const auto cell = [](const Amounts& amounts, const std::string& name) {
    const auto found = amounts.find(name);
    return found == amounts.end() ? "-" : shown_amount(name, found->second);
  };
  const auto amount = [](const Amounts& amounts, const std::string& name) {
    const auto found = amounts.find(name);
    return found == amounts.end() ? api::Quantity() : found->second;
  };
  std::vector<std::vector<std::string>> rows = {
      {"RESOURCE", "CAPACITY", "ALLOCATABLE", "REQUESTED", "SHARE"}};
  for (const std::string& name : names) {
    rows.push_back({name, cell(capacity, name), cell(allocatable, name),
                    shown_amount(name, amount(used, name)),
                    share_of(amount(used, name), amount(allocatable, name))});
  }
  return rows;
}

std::vector<std::vector<std::string>> pod_rows(const Objects& pods) {
  std::vector<std::vector<std::string>> rows = {
      {"NAMESPACE", "NAME", "STATUS", "CPU", "MEMORY", "OTHER"}};
  for (const auto& pod : pods) {
    std::string cpu = "-";
    std::string memory = "-";
    std::string other;
    for (const auto& [name, amount] : api::requests_of((*pod)["spec"])) {
      if (name == "cpu")
        cpu = shown_amount(name, amount);
      else if (name == "memory")
        memory = shown_amount(name, amount);
      else
        other += fmt::format("{}{}={}", other.empty() ? "" : ",", name, shown_amount(name, amount));
    }
    rows.push_back(
        {api::namespace_of(*pod), api::name_of(*pod), pod_state(*pod), cpu, memory, other});
  }
  return rows;
}

}  // namespace

std::string describe_node(const json::Value& node, const Objects& pods) {
  Description text(kLabelWidth);
  const json::Value& info = node["status"]["nodeInfo"];
  text.line(0, "Name", api::name_of(node));
  text.line(0, "Status", node_state(node));
  text.line(0, "Created", node["metadata"]["creationTimestamp"].as_string());
  text.lines(0, "Labels", pairs_of(node["metadata"]["labels"]));
  text.lines(0, "Annotations", pairs_of(node["metadata"]["annotations"]));
  text.lines(0, "Taints", taints_of(node));
  text.lines(0, "Addresses", addresses_of(node));
  text.line(0, "System",
            fmt::format("{}/{} {} kernel {}", info["operatingSystem"].as_string(),
                        info["architecture"].as_string(), info["osImage"].as_string(),
                        info["kernelVersion"].as_string()));
  text.line(0, "Version", info["kubeletVersion"].as_string());
  text.table("Conditions", condition_rows(node));
  text.table("Resources", resource_rows(node, pods));
  text.table("Pods", pod_rows(pods));
  return text.text();
}

}  // namespace muster::cli
