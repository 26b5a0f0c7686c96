#include "api/pod.h"

#include <algorithm>
#include <array>

#include "api/object.h"

namespace muster::api {
namespace {

constexpr std::array<std::string_view, 5> kPhases = {"Pending", "Running", "Succeeded", "Failed",
                                                     "Unknown"};

using Resources = std::map<std::string, Quantity>;

// Quantities that cannot be read count as nothing: whoever accepted the pod has refused them
// already.
void add_amounts(Resources& sum, const json::Value& amounts) {
  for (const auto& [name, amount] : amounts.as_object()) {
    if (const auto quantity = Quantity::from(amount)) sum[name] = sum[name] + *quantity;
  }
}

Resources container_requests(const json::Value& container) {
  const json::Value& resources = container["resources"];
  Resources requests;
  add_amounts(requests, resources["requests"]);
  for (const auto& [name, amount] : resources["limits"].as_object()) {
    if (requests.contains(name)) continue;
    if (const auto quantity = Quantity::from(amount)) requests[name] = *quantity;
  }
  return requests;
}

void add(Resources& sum, const Resources& more) {
  for (const auto& [name, amount] : more) sum[name] = sum[name] + amount;
}

void raise_to(Resources& most, const Resources& other) {
  for (const auto& [name, amount] : other) most[name] = std::max(most[name], amount);
}

}  // namespace

PodPhase phase_of(const json::Value& pod) {
  const std::string& text = pod["status"]["phase"].as_string();
  if (text.empty()) return PodPhase::Pending;
  const auto* const found = std::ranges::find(kPhases, text);
  return found == kPhases.end() ? PodPhase::Unknown
                                : static_cast<PodPhase>(found - kPhases.begin());
}

std::string_view to_string(PodPhase phase) {
  return kPhases.at(static_cast<std::size_t>(phase));
}

const json::Value& container_status(const json::Value& pod, std::string_view container) {
  static const json::Value none;
  for (const auto* const list : {"containerStatuses", "initContainerStatuses"}) {
    if (const auto* found = find_named(pod["status"][list], container)) return *found;
  }
  return none;
}

std::optional<int> exit_code_of(const json::Value& pod, std::string_view container) {
  const json::Value& code = container_status(pod, container)["state"]["terminated"]["exitCode"];
  if (!code.is_number()) return std::nullopt;
  return static_cast<int>(code.as_int());
}

std::int64_t restarts_of(const json::Value& pod) {
  std::int64_t sum = 0;
  for (const auto* const list : {"containerStatuses", "initContainerStatuses"}) {
    for (const json::Value& status : pod["status"][list].as_array()) {
      // Bounded, so that nonsense from a server cannot overflow the sum.
      sum += std::clamp<std::int64_t>(status["restartCount"].as_int(), 0, 1'000'000'000);
    }
  }
  return sum;
}

bool is_ready(const json::Value& pod) {
  return condition_is_true(pod, "Ready");
}

const std::string& node_name_of(const json::Value& pod) {
  return pod["spec"]["nodeName"].as_string();
}

const std::string& pod_ip_of(const json::Value& pod) {
  return pod["status"]["podIP"].as_string();
}

Resources requests_of(const json::Value& pod_spec) {
  Resources running;  // what is needed once the init containers are done
  for (const json::Value& container : pod_spec["containers"].as_array()) {
    add(running, container_requests(container));
  }
  Resources starting;  // the most that is needed before that
  Resources sidecars;  // init containers that stay
  for (const json::Value& container : pod_spec["initContainers"].as_array()) {
    Resources step = container_requests(container);
    if (container["restartPolicy"].as_string() == "Always") {
      add(running, step);
      add(sidecars, step);
      step = sidecars;
    } else {
      add(step, sidecars);
    }
    raise_to(starting, step);
  }
  raise_to(running, starting);
  add_amounts(running, pod_spec["overhead"]);
  return running;
}

}  // namespace muster::api
