#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "api/quantity.h"
#include "base/time.h"
#include "json/value.h"

// Reading pods.
namespace muster::api {

enum class PodPhase { Pending, Running, Succeeded, Failed, Unknown };

PodPhase phase_of(const json::Value& pod);
std::string_view to_string(PodPhase phase);
inline bool is_finished(PodPhase phase) {
  return phase == PodPhase::Succeeded || phase == PodPhase::Failed;
}

// status.containerStatuses (and initContainerStatuses) by container name; null when there is none
// yet.
const json::Value& container_status(const json::Value& pod, std::string_view container);
// The exit code of a terminated container.
std::optional<int> exit_code_of(const json::Value& pod, std::string_view container);
// Container and init container restarts, summed.
std::int64_t restarts_of(const json::Value& pod);
bool is_ready(const json::Value& pod);
const std::string& node_name_of(const json::Value& pod);
const std::string& pod_ip_of(const json::Value& pod);

// What the scheduler counts: per resource the larger of the containers' sum and the largest init
// container, plus overhead; limits stand in for absent requests.
std::map<std::string, Quantity> requests_of(const json::Value& pod_spec);

}  // namespace muster::api
