#include "engine/observed.h"

#include <algorithm>
#include <numeric>

#include "api/object.h"
#include "api/waiting.h"
#include "base/strings.h"
#include "plan/plan.h"

namespace muster::engine {
namespace {

ContainerView container_view(const json::Value& status, bool init) {
  ContainerView view;
  view.name = status["name"].as_string();
  view.init = init;
  view.restarts = status["restartCount"].as_int();
  const json::Value& state = status["state"];
  view.running = state["running"].is_object();
  if (const json::Value& last = status["lastState"]["terminated"]; last.is_object()) {
    view.last_exit_code = static_cast<int>(last["exitCode"].as_int());
  }
  if (const json::Value& ended = state["terminated"]; ended.is_object()) {
    view.exit_code = static_cast<int>(ended["exitCode"].as_int());
    view.reason = ended["reason"].as_string();
    view.message = ended["message"].as_string();
  } else if (const json::Value& waiting = state["waiting"]; waiting.is_object()) {
    view.reason = waiting["reason"].as_string();
    view.message = waiting["message"].as_string();
  }
  return view;
}

// The latest end of any container: when the pod as a whole was over.
std::optional<Time> last_finish(const json::Value& statuses) {
  std::optional<Time> last;
  for (const json::Value& status : statuses.as_array()) {
    const auto finished = api::time_at(status["state"]["terminated"]["finishedAt"]);
    if (finished && (!last || *finished > *last)) last = finished;
  }
  return last;
}

void read_reason(const json::Value& pod, PodView& view) {
  view.reason = pod["status"]["reason"].as_string();
  view.message = pod["status"]["message"].as_string();
  const json::Value& condition = api::condition_of(pod, "DisruptionTarget");
  view.disruption_target = condition["status"].as_string() == "True";
  const json::Value& never = api::condition_of(pod, api::kCannotStart);
  view.refused = never["status"].as_string() == "True" &&
                 never["reason"].as_string() == api::cannot_start::kRefused;
  if (!view.disruption_target || !view.reason.empty()) return;
  view.reason = condition["reason"].as_string();
  view.message = condition["message"].as_string();
}

// A pod that waits for its turn, or for its peers, is no trouble.
std::optional<Unplaced> read_unplaced(const json::Value& pod) {
  const json::Value& placed = api::condition_of(pod, "PodScheduled");
  if (placed["status"].as_string() != "False" ||
      placed["reason"].as_string() != api::not_placed::kUnschedulable)
    return std::nullopt;
  return Unplaced{.message = placed["message"].as_string(),
                  .since = api::time_at(placed["lastTransitionTime"])};
}

std::int64_t label_number(const json::Value& object, std::string_view key, std::int64_t otherwise) {
  return parse_int(api::label_of(object, key)).value_or(otherwise);
}

}  // namespace

PodView PodView::from(const json::Value& pod) {
  PodView view;
  view.name = api::name_of(pod);
  view.uid = api::uid_of(pod);
  view.resource_version = api::resource_version_of(pod);
  view.role = api::label_of(pod, plan::labels::kRole);
  view.index = static_cast<int>(label_number(pod, plan::labels::kIndex, -1));
  view.attempt = label_number(pod, plan::labels::kAttempt, 0);
  view.epoch = label_number(pod, plan::labels::kEpoch, 0);
  view.phase = api::phase_of(pod);
  view.deleting = api::is_deleting(pod);
  view.ready = api::condition_of(pod, "Ready")["status"].as_string() == "True";
  view.ip = api::pod_ip_of(pod);
  view.silence = api::node_silence(pod);
  const json::Value& status = pod["status"];
  read_reason(pod, view);
  view.unplaced = read_unplaced(pod);
  view.finished_at = last_finish(status["containerStatuses"]);
  for (const json::Value& container : status["initContainerStatuses"].as_array())
    view.containers.push_back(container_view(container, true));
  for (const json::Value& container : status["containerStatuses"].as_array())
    view.containers.push_back(container_view(container, false));
  return view;
}

std::int64_t PodView::restarts() const {
  return std::accumulate(containers.begin(), containers.end(), std::int64_t{0},
                         [](std::int64_t sum, const ContainerView& c) { return sum + c.restarts; });
}

const ContainerView* PodView::container(std::string_view container_name) const {
  const auto found = std::ranges::find(containers, container_name, &ContainerView::name);
  return found == containers.end() ? nullptr : &*found;
}

bool PodView::has_last_words(PodView& gone) {
  gone.deleting = true;
  gone.silence.reset();
  return gone.disruption_target;
}

void PodView::forget_details() {
  ip = {};
  reason = {};
  message = {};
  unplaced = {};
  containers = {};
}

ObjectView ObjectView::from(const api::Resource& resource, const json::Value& object) {
  ObjectView view{.resource = resource,
                  .name = api::name_of(object),
                  .uid = api::uid_of(object),
                  .deleting = api::is_deleting(object),
                  .cluster_ip = object["spec"]["clusterIP"].as_string(),
                  .content = api::annotation_of(object, plan::kContentAnnotation),
                  .made_at = api::creation_time_of(object)};
  if (view.cluster_ip == "None") view.cluster_ip.clear();
  return view;
}

}  // namespace muster::engine
