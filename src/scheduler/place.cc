#include "scheduler/place.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "scheduler/node_affinity.h"

namespace muster::scheduler {
namespace {

// These labels are the whole contract between the engine and this scheduler.
constexpr std::string_view kGang = "muster.dev/gang";
constexpr std::string_view kGangSize = "muster.dev/gang-size";
constexpr std::string_view kQueue = "muster.dev/queue";
constexpr std::string_view kPriority = "muster.dev/priority";  // in the queue

std::map<std::string, std::string> string_map(const json::Value& object) {
  std::map<std::string, std::string> map;
  for (const auto& [key, value] : object.as_object()) map[key] = value.as_string();
  return map;
}

bool is_ready(const json::Value& node) {
  for (const json::Value& condition : node["status"]["conditions"].as_array()) {
    if (condition["type"].as_string() == "Ready") return condition["status"].as_string() == "True";
  }
  return false;
}

// What is left of a node.
struct Room {
  Amounts amounts;
  std::set<std::string> taken_ports;
};
using Free = std::map<std::string, Room>;  // by node name

// Of pods in the host's network; the ports of all others are their own.
std::set<std::string> host_ports_of(const json::Value& pod) {
  std::set<std::string> ports;
  if (!pod["spec"]["hostNetwork"].as_bool()) return ports;
  for (const json::Value& container : pod["spec"]["containers"].as_array()) {
    for (const json::Value& port : container["ports"].as_array()) {
      if (port["hostPort"].as_int() == 0) continue;
      const std::string& protocol = port["protocol"].as_string();
      ports.insert(
          fmt::format("{}/{}", protocol.empty() ? "TCP" : protocol, port["hostPort"].as_int()));
    }
  }
  return ports;
}

std::set<std::string> claims_of(const json::Value& pod) {
  std::set<std::string> claims;
  for (const json::Value& volume : pod["spec"]["volumes"].as_array()) {
    const std::string& name = volume["persistentVolumeClaim"]["claimName"].as_string();
    if (!name.empty()) claims.insert(name);
  }
  return claims;
}

bool ports_are_free(const Room& room, const PodView& pod) {
  return std::ranges::none_of(
      pod.host_ports, [&](const std::string& port) { return room.taken_ports.contains(port); });
}

// The first resource that the node has too little of; nothing when the pod fits.
std::optional<std::string> lacking(const Amounts& free, const Amounts& needs) {
  for (const auto& [resource, amount] : needs) {
    const auto found = free.find(resource);
    const api::Quantity available = found == free.end() ? api::Quantity() : found->second;
    if (available < amount) return resource;
  }
  return std::nullopt;
}

bool selects(const PodView& pod, const NodeView& node) {
  if (!matches_affinity(pod.node_affinity, node.name, node.labels)) return false;
  return std::ranges::all_of(pod.node_selector, [&](const auto& term) {
    const auto found = node.labels.find(term.first);
    return found != node.labels.end() && found->second == term.second;
  });
}

void take(Room& room, const PodView& pod) {
  for (const auto& [resource, amount] : pod.requests)
    room.amounts[resource] = room.amounts[resource] - amount;
  room.taken_ports.insert(pod.host_ports.begin(), pod.host_ports.end());
}

// Places pods one after the other into `free`; the text says why the first one that fails does.
std::optional<std::string> fit(const std::vector<NodeView>& nodes,
                               const std::vector<const PodView*>& pods, Free& free,
                               std::vector<Binding>& bindings) {
  for (const PodView* pod : pods) {
    std::map<std::string, int> reasons;
    const NodeView* chosen = nullptr;
    for (const NodeView& node : nodes) {
      if (!node.usable) {
        ++reasons["node(s) were not ready or unschedulable"];
      } else if (!selects(*pod, node)) {
        ++reasons["node(s) didn't match Pod's node affinity/selector"];
      } else if (const auto resource = lacking(free[node.name].amounts, pod->requests)) {
        ++reasons[*resource == "pods" ? "Too many pods" : "Insufficient " + *resource];
      } else if (!ports_are_free(free[node.name], *pod)) {
        ++reasons["node(s) didn't have free ports for the requested pod ports"];
      } else {
        chosen = &node;
        break;
      }
    }
    if (chosen == nullptr) {
      std::vector<std::string> parts;
      for (const auto& [reason, count] : reasons)
        parts.push_back(fmt::format("{} {}", count, reason));
      return fmt::format("0/{} nodes are available: {}.", nodes.size(), join(parts, ", "));
    }
    take(free[chosen->name], *pod);
    bindings.push_back({.key = pod->key, .uid = pod->uid, .node = chosen->name});
  }
  return std::nullopt;
}

struct Group {
  std::vector<const PodView*> waiting;
  int placed = 0;
  int size = 1;
  std::string queue;
  std::int64_t priority = 0;
  Time created{};
};

std::vector<Group> group(const std::vector<PodView>& pods) {
  std::map<std::string, Group> groups;
  for (const PodView& pod : pods) {
    if (pod.gang.empty() && !pod.node.empty()) continue;
    Group& entry = groups[pod.gang.empty() ? "uid " + pod.uid : "gang " + pod.gang];
    // A member that already ran counts: a restarted rank joins the others, it does not wait for
    // them.
    if (!pod.node.empty()) {
      ++entry.placed;
      continue;
    }
    if (entry.waiting.empty() || pod.created < entry.created) entry.created = pod.created;
    entry.waiting.push_back(&pod);
    entry.size = std::max(entry.size, pod.gang_size);
    entry.priority = std::max(entry.priority, pod.priority);
    entry.queue = pod.queue;
  }
  std::vector<Group> sorted;
  for (auto& [name, entry] : groups) {
    if (!entry.waiting.empty()) sorted.push_back(std::move(entry));
  }
  for (Group& entry : sorted) {
    std::ranges::sort(entry.waiting, {},
                      [](const PodView* pod) { return std::tuple(pod->created, pod->key); });
  }
  std::ranges::sort(sorted, {}, [](const Group& entry) {
    return std::tuple(-entry.priority, entry.created, entry.waiting.front()->key);
  });
  return sorted;
}

Free free_amounts(const std::vector<NodeView>& nodes, const std::vector<PodView>& pods) {
  Free free;
  for (const NodeView& node : nodes) free[node.name].amounts = node.allocatable;
  for (const PodView& pod : pods) {
    if (!pod.node.empty() && !pod.over) take(free[pod.node], pod);
  }
  return free;
}

void refuse(const Group& entry, const std::string& message, Refused::Why why,
            Placement& placement) {
  for (const PodView* pod : entry.waiting) {
    placement.refused.push_back({.key = pod->key, .uid = pod->uid, .message = message, .why = why});
  }
}

using Claims = std::map<api::ObjectKey, const ClaimView*>;

// Why a pod's claims keep it from running, in kube-scheduler's words.
std::optional<std::string> missing_claim(const PodView& pod, const Claims& claims) {
  for (const std::string& name : pod.claims) {
    const auto found = claims.find({.ns = pod.key.ns, .name = name});
    if (found == claims.end()) return fmt::format("persistentvolumeclaim \"{}\" not found", name);
    if (found->second->deleting)
      return fmt::format("persistentvolumeclaim \"{}\" is being deleted", name);
    if (!found->second->bound)
      return fmt::format("pod has unbound immediate PersistentVolumeClaims: \"{}\"", name);
  }
  return std::nullopt;
}

bool wait_for_claims(const std::vector<NodeView>& nodes, const Group& entry, const Claims& claims,
                     Placement& placement) {
  for (const PodView* pod : entry.waiting) {
    const auto why = missing_claim(*pod, claims);
    if (!why) continue;
    refuse(entry, fmt::format("0/{} nodes are available: {}.", nodes.size(), *why),
           Refused::Why::Claim, placement);
    return true;
  }
  return false;
}

// Whether even an empty machine has no room. A node that is not ready yet may be soon.
bool can_never_fit(std::vector<NodeView> nodes, const Group& entry, std::size_t enough,
                   const Free& empty) {
  for (NodeView& node : nodes) node.usable = true;
  Free all = empty;
  std::vector<Binding> unused;
  return !nodes.empty() && fit(nodes, entry.waiting, all, unused).has_value() &&
         unused.size() < enough;
}

// 2, 1500m; bytes in a unit that people read.
std::string amount_text(const std::string& resource, const api::Quantity& amount) {
  if (resource != "memory" && resource != "ephemeral-storage") return amount.text();
  constexpr double kGi = 1024.0 * 1024 * 1024;
  const double size = static_cast<double>(amount.whole()) / kGi;
  return fmt::format("{:.{}f}Gi", size, size < 10 ? 1 : 0);
}

// What a group that can never fit asks for, and what there is.
std::string too_much(const std::vector<NodeView>& nodes, const Group& entry) {
  Amounts asked;
  for (const PodView* pod : entry.waiting) {
    for (const auto& [resource, amount] : pod->requests) asked[resource] = asked[resource] + amount;
  }
  Amounts there;
  for (const NodeView& node : nodes) {
    for (const auto& [resource, amount] : node.allocatable)
      there[resource] = there[resource] + amount;
  }
  std::vector<std::string> parts;
  for (const auto& [resource, amount] : asked) {
    if (there[resource] < amount)
      parts.push_back(fmt::format("{} {} asked for, {} there", amount_text(resource, amount),
                                  resource, amount_text(resource, there[resource])));
  }
  const std::string_view who = entry.waiting.size() == 1 ? "It" : "They";
  if (parts.empty()) return fmt::format(" {} can never fit on this machine.", who);
  return fmt::format(" {} can never fit on this machine: {}.", who, join(parts, ", "));
}

enum class Outcome { Placed, WaitsForRoom, WaitsForOthers, NeverFits };

Outcome place_group(const std::vector<NodeView>& nodes, const Group& entry, Free& free,
                    const Free& empty, Placement& placement) {
  const int members = entry.placed + static_cast<int>(entry.waiting.size());
  if (members < entry.size) {
    refuse(entry, fmt::format("waiting for the gang: {} of {} pods exist", members, entry.size),
           Refused::Why::Gang, placement);
    return Outcome::WaitsForOthers;
  }
  Free trial = free;
  std::vector<Binding> bindings;
  const auto reason = fit(nodes, entry.waiting, trial, bindings);
  const auto enough = static_cast<std::size_t>(std::max(entry.size - entry.placed, 0));
  if (!reason || (enough > 0 && bindings.size() >= enough) || (enough == 0 && !bindings.empty())) {
    free = std::move(trial);
    placement.bindings.insert(placement.bindings.end(), bindings.begin(), bindings.end());
    if (reason) {
      Group rest = entry;
      rest.waiting.erase(rest.waiting.begin(),
                         rest.waiting.begin() + static_cast<std::ptrdiff_t>(bindings.size()));
      refuse(rest, *reason, Refused::Why::Room, placement);
    }
    return Outcome::Placed;
  }
  const bool never = can_never_fit(nodes, entry, enough, empty);
  const std::string whole =
      entry.waiting.size() == 1
          ? ""
          : fmt::format(" All {} pods must fit together.", entry.waiting.size());
  refuse(entry, *reason + whole + (never ? too_much(nodes, entry) : ""),
         never ? Refused::Why::Never : Refused::Why::Room, placement);
  return never ? Outcome::NeverFits : Outcome::WaitsForRoom;
}

}  // namespace

NodeView NodeView::from(const json::Value& node) {
  NodeView view{.name = api::name_of(node),
                .usable = is_ready(node) && !node["spec"]["unschedulable"].as_bool(),
                .labels = string_map(node["metadata"]["labels"])};
  for (const auto& [resource, amount] : node["status"]["allocatable"].as_object()) {
    if (const auto quantity = api::Quantity::from(amount)) view.allocatable[resource] = *quantity;
  }
  return view;
}

PodView PodView::from(const json::Value& pod) {
  PodView view{
      .key = api::key_of(pod),
      .uid = api::uid_of(pod),
      .node = api::node_name_of(pod),
      .over = api::is_finished(api::phase_of(pod)),
      .gang = api::label_of(pod, kGang),
      .gang_size = static_cast<int>(parse_int(api::label_of(pod, kGangSize)).value_or(1)),
      .queue = api::label_of(pod, kQueue),
      .priority = pod["spec"]["priority"].as_int(),
      .created = api::creation_time_of(pod).value_or(Time{}),
      .requests = api::requests_of(pod["spec"]),
      .host_ports = host_ports_of(pod),
      .node_selector = string_map(pod["spec"]["nodeSelector"]),
      .node_affinity =
          pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"],
      .claims = claims_of(pod)};
  if (!view.queue.empty()) view.priority = parse_int(api::label_of(pod, kPriority)).value_or(0);
  view.requests["pods"] = api::Quantity::of(1);
  return view;
}

ClaimView ClaimView::from(const json::Value& claim) {
  return {.key = api::key_of(claim),
          .bound = claim["status"]["phase"].as_string() == "Bound",
          .deleting = api::is_deleting(claim)};
}

Placement place(const std::vector<NodeView>& nodes, const std::vector<PodView>& pods,
                const std::vector<ClaimView>& claims) {
  Placement placement;
  Claims known;
  for (const ClaimView& claim : claims) known[claim.key] = &claim;
  Free free = free_amounts(nodes, pods);
  const Free empty = free_amounts(nodes, {});
  std::set<std::string> full;  // queues whose first waits for room
  for (const Group& entry : group(pods)) {
    if (full.contains(entry.queue)) {
      refuse(entry, fmt::format("waiting in queue {}: others come first", entry.queue),
             Refused::Why::Queue, placement);
    } else if (!wait_for_claims(nodes, entry, known, placement) &&
               place_group(nodes, entry, free, empty, placement) == Outcome::WaitsForRoom &&
               !entry.queue.empty()) {
      full.insert(entry.queue);
    }
  }
  return placement;
}

}  // namespace muster::scheduler
