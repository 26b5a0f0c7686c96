#include "cli/tables/pod_rows.h"

#include <optional>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"

namespace muster::cli {
namespace {

// While init containers keep the others from starting.
std::optional<std::string> init_state(const json::Value& pod) {
  const auto& statuses = pod["status"]["initContainerStatuses"].as_array();
  std::size_t done = 0;
  for (const json::Value& status : statuses) {
    const json::Value& ended = status["state"]["terminated"];
    const bool sidecar = status["started"].as_bool() && status["state"]["running"].is_object();
    if (sidecar || (ended.is_object() && ended["exitCode"].as_int() == 0)) {
      ++done;
      continue;
    }
    const std::string& waiting = status["state"]["waiting"]["reason"].as_string();
    if (!waiting.empty() && waiting != "PodInitializing") return "Init:" + waiting;
    if (ended.is_object())
      return "Init:" +
             (ended["reason"].as_string().empty() ? "Error" : ended["reason"].as_string());
    return fmt::format("Init:{}/{}", done, pod["spec"]["initContainers"].as_array().size());
  }
  return std::nullopt;
}

Cells pod_row(const Item& item, const Surroundings& around) {
  const json::Value& pod = *item.object;
  int ready = 0;
  for (const json::Value& status : pod["status"]["containerStatuses"].as_array())
    ready += status["ready"].as_bool() ? 1 : 0;
  return {api::name_of(pod),
          fmt::format("{}/{}", ready, pod["spec"]["containers"].as_array().size()), pod_state(pod),
          std::to_string(api::restarts_of(pod)), age_of(pod, around.now)};
}

Cells wide_pod_row(const Item& item, const Surroundings& around) {
  const json::Value& pod = *item.object;
  Cells row = pod_row(item, around);
  row.push_back(api::pod_ip_of(pod).empty() ? "<none>" : api::pod_ip_of(pod));
  row.push_back(api::node_name_of(pod).empty() ? "<none>" : api::node_name_of(pod));
  return row;
}

}  // namespace

std::string pod_state(const json::Value& pod) {
  if (api::is_deleting(pod)) return "Terminating";
  const std::string& reason = pod["status"]["reason"].as_string();
  if (api::is_finished(api::phase_of(pod)) && !reason.empty()) return reason;
  if (auto state = init_state(pod)) return *state;
  for (const json::Value& status : pod["status"]["containerStatuses"].as_array()) {
    const std::string& waiting = status["state"]["waiting"]["reason"].as_string();
    if (!waiting.empty()) return waiting;
    const std::string& ended = status["state"]["terminated"]["reason"].as_string();
    if (!ended.empty()) return ended;
  }
  return reason.empty() ? std::string(to_string(api::phase_of(pod))) : reason;
}

Layout pod_layout(Width width) {
  Layout layout{.header = {"NAME", "READY", "STATUS", "RESTARTS", "AGE"},
                .row = width == Width::Wide ? wide_pod_row : pod_row,
                .state = 2,
                .age = 4};
  if (width == Width::Wide) layout.header.insert(layout.header.end(), {"IP", "NODE"});
  return layout;
}

}  // namespace muster::cli
