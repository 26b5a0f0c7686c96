#include "cli/tables/node_rows.h"

#include <set>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"

namespace muster::cli {
namespace {

// Columns of every node, in this order; what only some nodes have comes after them.
constexpr std::string_view kCpu = "cpu";
constexpr std::string_view kMemory = "memory";
constexpr std::string_view kPods = "pods";

bool counts_bytes(std::string_view resource) {
  return resource == kMemory || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

std::string shown_bytes(api::Quantity amount) {
  constexpr std::array<std::string_view, 5> kUnits = {"", "Ki", "Mi", "Gi", "Ti"};
  double value = static_cast<double>(amount.whole());
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.{}f}{}", value,
                     value < 10 && unit > 0 && value != static_cast<int>(value) ? 1 : 0,
                     kUnits[unit]);
}

std::string shown_cores(api::Quantity amount) {
  std::string text = fmt::format("{:.3f}", static_cast<double>(amount.milli()) / 1000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// GPUs and the like: of use only where somebody has some.
std::vector<std::string> extended_resources(const Objects& nodes) {
  std::set<std::string> found;
  for (const auto& node : nodes) {
    for (const auto& [resource, amount] : amounts_in((*node)["status"]["allocatable"])) {
      if (resource.find('/') != std::string::npos && amount > api::Quantity())
        found.insert(resource);
    }
  }
  return {found.begin(), found.end()};
}

const Objects& pods_on(const json::Value& node, const Surroundings& around) {
  static const Objects none;
  const auto found = around.pods_on_node.find(api::name_of(node));
  return found == around.pods_on_node.end() ? none : found->second;
}

// "1.5/8": used and there.
std::string share(const std::string& resource, const Amounts& used, const Amounts& there,
                  bool used_known) {
  const auto all = there.find(resource);
  if (all == there.end()) return "-";
  const auto taken = used.find(resource);
  return fmt::format(
      "{}/{}",
      used_known ? shown_amount(resource, taken == used.end() ? api::Quantity() : taken->second)
                 : "?",
      shown_amount(resource, all->second));
}

std::string address_of(const json::Value& node) {
  for (const json::Value& address : node["status"]["addresses"].as_array()) {
    if (address["type"].as_string() == "InternalIP") return address["address"].as_string();
  }
  return "<none>";
}

Cells node_row(const json::Value& node, const std::vector<std::string>& resources,
               const Surroundings& around, Width width) {
  const Amounts used = requested_by(pods_on(node, around));
  const Amounts there = amounts_in(node["status"]["allocatable"]);
  Cells row = {api::name_of(node), node_state(node)};
  for (const std::string& resource : resources)
    row.push_back(share(resource, used, there, around.pods_known));
  row.push_back(age_of(node, around.now));
  if (width == Width::Wide) {
    const json::Value& info = node["status"]["nodeInfo"];
    row.insert(row.end(), {address_of(node), info["kubeletVersion"].as_string(),
                           fmt::format("{}/{}", info["operatingSystem"].as_string(),
                                       info["architecture"].as_string())});
  }
  return row;
}

}  // namespace

Layout node_layout(const Objects& nodes, Width width) {
  std::vector<std::string> resources = {std::string(kCpu), std::string(kMemory)};
  for (auto& resource : extended_resources(nodes)) resources.push_back(std::move(resource));
  resources.emplace_back(kPods);
  Layout layout{.header = {"NAME", "STATUS"}, .state = 1};
  for (const std::string& resource : resources) {
    std::string title = resource;
    if (resource.find('/') == std::string::npos) {
      for (char& c : title) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    layout.header.push_back(std::move(title));
  }
  layout.age = layout.header.size();
  layout.header.emplace_back("AGE");
  if (width == Width::Wide)
    layout.header.insert(layout.header.end(), {"INTERNAL-IP", "VERSION", "OS/ARCH"});
  layout.row = [resources, width](const Item& item, const Surroundings& around) {
    return node_row(*item.object, resources, around, width);
  };
  return layout;
}

std::string node_state(const json::Value& node) {
  const std::string& ready = api::condition_of(node, "Ready")["status"].as_string();
  std::string state = ready == "True" ? "Ready" : ready == "False" ? "NotReady" : "Unknown";
  if (node["spec"]["unschedulable"].as_bool()) state += ",SchedulingDisabled";
  return state;
}

Amounts requested_by(const Objects& pods) {
  Amounts sum;
  for (const auto& pod : pods) {
    for (const auto& [resource, amount] : api::requests_of((*pod)["spec"]))
      sum[resource] = sum[resource] + amount;
  }
  sum[std::string(kPods)] = api::Quantity::of(static_cast<std::int64_t>(pods.size()));
  return sum;
}

Amounts amounts_in(const json::Value& resources) {
  Amounts amounts;
  for (const auto& [resource, value] : resources.as_object()) {
    if (const auto amount = api::Quantity::from(value)) amounts[resource] = *amount;
  }
  return amounts;
}

std::string shown_amount(const std::string& resource, api::Quantity amount) {
  if (resource == kCpu) return shown_cores(amount);
  return counts_bytes(resource) ? shown_bytes(amount) : std::to_string(amount.whole());
}

bool takes_room(const json::Value& pod) {
  return !api::node_name_of(pod).empty() && !api::is_finished(api::phase_of(pod));
}

}  // namespace muster::cli
