#include "server/http/pod_printer.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "server/http/printer.h"

namespace muster::server {
namespace {

// A terminated container's own reason, or its signal or exit code.
std::string ended_text(const json::Value& terminated) {
  if (const auto& reason = terminated["reason"].as_string(); !reason.empty()) return reason;
  if (const auto signal = terminated["signal"].as_int(); signal != 0) {
    return fmt::format("Signal:{}", signal);
  }
  return fmt::format("ExitCode:{}", terminated["exitCode"].as_int());
}

// What an unfinished init container makes of the pod's status; nothing when all have ended well.
std::optional<std::string> init_text(const json::Value& pod) {
  const json::Array& statuses = pod["status"]["initContainerStatuses"].as_array();
  const std::size_t total = pod["spec"]["initContainers"].as_array().size();
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const json::Value& state = statuses[i]["state"];
    const json::Value& ended = state["terminated"];
    if (ended.is_object() && ended["exitCode"].as_int() == 0) continue;
    if (ended.is_object()) return "Init:" + ended_text(ended);
    const std::string& reason = state["waiting"]["reason"].as_string();
    if (!reason.empty() && reason != "PodInitializing") return "Init:" + reason;
    return fmt::format("Init:{}/{}", i, total);
  }
  return std::nullopt;
}

std::string containers_text(const json::Value& pod, std::string text) {
  bool running = false;
  const json::Array& statuses = pod["status"]["containerStatuses"].as_array();
  for (auto at = statuses.rbegin(); at != statuses.rend(); ++at) {
    const json::Value& state = (*at)["state"];
    if (const auto& reason = state["waiting"]["reason"].as_string(); !reason.empty()) {
      text = reason;
    } else if (state["terminated"].is_object()) {
      text = ended_text(state["terminated"]);
    } else if ((*at)["ready"].as_bool() && state["running"].is_object()) {
      running = true;
    }
  }
  // One has finished beside one that runs.
  if (text == "Completed" && running) return api::is_ready(pod) ? "Running" : "NotReady";
  return text;
}

std::string restarts_text(const json::Value& pod, Time now) {
  const std::int64_t restarts = api::restarts_of(pod);
  std::optional<Time> last;
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const json::Value& status : pod["status"][list].as_array()) {
      const auto ended = api::time_at(status["lastState"]["terminated"]["finishedAt"]);
      if (ended && (!last || *ended > *last)) last = ended;
    }
  }
  if (restarts == 0 || !last) return fmt::format("{}", restarts);
  return fmt::format("{} ({} ago)", restarts, format_age(std::max(now - *last, Duration::zero())));
}

}  // namespace

std::string pod_status_text(const json::Value& pod) {
  const json::Value& status = pod["status"];
  std::string text = status["phase"].as_string();
  if (const auto& reason = status["reason"].as_string(); !reason.empty()) text = reason;
  for (const json::Value& condition : status["conditions"].as_array()) {
    const bool gated = condition["type"].as_string() == "PodScheduled" &&
                       condition["reason"].as_string() == "SchedulingGated";
    if (gated) text = "SchedulingGated";
  }
  const auto init = init_text(pod);
  text = init ? *init : containers_text(pod, std::move(text));
  const bool final = api::is_finished(api::phase_of(pod));
  if (api::is_deleting(pod) && !final) {
    return status["reason"].as_string() == "NodeLost" ? "Unknown" : "Terminating";
  }
  return text;
}

std::vector<json::Value> pod_cells(const json::Value& pod, Time now) {
  const json::Array& statuses = pod["status"]["containerStatuses"].as_array();
  const auto ready = std::ranges::count_if(statuses, [](const json::Value& status) {
    return status["ready"].as_bool() && status["state"]["running"].is_object();
  });
  const auto created = api::creation_time_of(pod);
  const auto or_none = [](const std::string& text) { return text.empty() ? "<none>" : text; };
  return {api::name_of(pod),
          fmt::format("{}/{}", ready, pod["spec"]["containers"].as_array().size()),
          pod_status_text(pod),
          restarts_text(pod, now),
          created ? format_age(std::max(now - *created, Duration::zero())) : "<unknown>",
          or_none(api::pod_ip_of(pod)),
          or_none(api::node_name_of(pod)),
          or_none(pod["status"]["nominatedNodeName"].as_string()),
          "<none>"};
}

}  // namespace muster::server
