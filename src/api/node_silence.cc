#include "api/node_silence.h"

#include "api/object.h"
#include "api/pod.h"

namespace muster::api {
namespace {

// A deletion time includes the grace period; kubelets are a few seconds late when they are busy.
constexpr Duration kPatience = std::chrono::seconds(30);

// A kubelet gives a pod back by deleting it at once. What still holds it then is a finalizer, whose
// owner is somebody else.
bool was_given_back(const json::Value& pod) {
  const json::Value& grace = pod["metadata"]["deletionGracePeriodSeconds"];
  return grace.is_number() && grace.as_int() == 0 &&
         !pod["metadata"]["finalizers"].as_array().empty();
}

// The node's controller says that the pod is not ready, and the last that its node said is that all
// its containers are. A kubelet that finds a pod not ready says why, and this one does not.
bool is_marked_unready(const json::Value& pod) {
  const json::Value& ready = condition_of(pod, "Ready");
  return ready["status"].as_string() == "False" && ready["reason"].as_string().empty() &&
         condition_is_true(pod, "ContainersReady");
}

bool is_lost(const json::Value& pod) {
  const PodPhase phase = phase_of(pod);
  if (is_finished(phase)) return false;
  return phase == PodPhase::Unknown || pod["status"]["reason"].as_string() == "NodeLost" ||
         condition_of(pod, "Ready")["reason"].as_string() == "NodeLost" || is_marked_unready(pod);
}

}  // namespace

std::optional<NodeSilence> node_silence(const json::Value& pod) {
  const std::string& node = node_name_of(pod);
  if (node.empty() || was_given_back(pod)) return std::nullopt;
  const auto due = time_at(pod["metadata"]["deletionTimestamp"]);
  if (is_lost(pod)) {
    const auto unready = time_at(condition_of(pod, "Ready")["lastTransitionTime"]);
    const Time since = unready ? *unready : due.value_or(creation_time_of(pod).value_or(Time{}));
    return NodeSilence{.node = node, .since = since, .known = since};
  }
  if (!due) return std::nullopt;
  return NodeSilence{.node = node, .since = *due, .known = *due + kPatience};
}

}  // namespace muster::api
