#include "cli/logs/container_log.h"

#include "api/pod.h"

namespace muster::cli {
namespace {

// Whether a container that ended like this is started again while its pod lives.
bool may_start_again(const json::Value& pod, const json::Value& ended) {
  const std::string& policy = pod["spec"]["restartPolicy"].as_string();
  if (policy == "Never") return false;
  return policy != "OnFailure" || ended["exitCode"].as_int() != 0;
}

}  // namespace

ContainerProgress ContainerProgress::of(const json::Value& pod, const std::string& container) {
  const json::Value& status = api::container_status(pod, container);
  const json::Value& state = status["state"];
  const json::Value& ended = state["terminated"];
  ContainerProgress progress{.attempt = static_cast<int>(status["restartCount"].as_int())};
  progress.started = state["running"].is_object() || ended.is_object() ||
                     status["lastState"]["terminated"].is_object();
  const bool ended_for_good = ended.is_object() && !may_start_again(pod, ended);
  progress.over = api::is_finished(api::phase_of(pod)) || ended_for_good;
  return progress;
}

}  // namespace muster::cli
