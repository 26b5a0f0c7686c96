#include "cli/jobs/waiting.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "api/waiting.h"
#include "plan/blocked.h"
#include "plan/ledger.h"

namespace muster::cli {
namespace {

constexpr std::string_view kCrashLoop = "CrashLoopBackOff";

// What would unblock whoever waits for a reason. Of two reasons the one that is listed first
// matters more: somebody has to do something about it.
struct Known {
  std::string_view reason;
  std::string_view remedy;
};
constexpr std::array kKnown = {
    Known{"InvalidImageName", "correct the name of the image"},
    Known{"ErrImageNeverPull", "bring the image to the node"},
    Known{"CreateContainerConfigError", "create what it refers to, or correct the manifest"},
    Known{"CreateContainerError", ""},
    Known{"RunContainerError", ""},
    Known{"ErrImagePull", "correct the name of the image, or the right to pull it"},
    Known{"ImagePullBackOff", "correct the name of the image, or the right to pull it"},
    Known{kCrashLoop, "its output of the run before says why: logs -p"},
    Known{api::not_placed::kVolumeUnbound, "create that claim, or a volume that it can have"},
    Known{api::not_placed::kUnschedulable, "others have to end, or it has to ask for less"},
    Known{"SchedulingGated", "whoever put the scheduling gates there has to take them away"},
    Known{"ContainerCreating", ""},
    Known{api::not_placed::kQueued, "those before it in the queue have to end"},
    Known{api::not_placed::kGangIncomplete, ""},
};

std::size_t rank_of(const Waiting& waiting) {
  if (waiting.for_ever) return 0;
  const auto found = std::ranges::find(kKnown, waiting.reason, &Known::reason);
  return 1 + static_cast<std::size_t>(found - kKnown.begin());
}

std::string remedy_for(std::string_view reason) {
  const auto found = std::ranges::find(kKnown, reason, &Known::reason);
  return found == kKnown.end() ? "" : std::string(found->remedy);
}

std::optional<Waiting> waits_for_a_place(const json::Value& pod) {
  const json::Value& placed = api::condition_of(pod, "PodScheduled");
  if (placed["status"].as_string() != "False") return std::nullopt;
  const std::string& reason = placed["reason"].as_string();
  return Waiting{.reason = reason,
                 .message = placed["message"].as_string(),
                 .remedy = remedy_for(reason),
                 .since = api::time_at(placed["lastTransitionTime"])};
}

Waiting crash_loop(const json::Value& status) {
  const json::Value& ended = status["lastState"]["terminated"];
  return {.reason = std::string(kCrashLoop),
          .message = fmt::format("container {} ended with exit {} and is started again ({} so far)",
                                 status["name"].as_string(), ended["exitCode"].as_int(),
                                 status["restartCount"].as_int()),
          .remedy = remedy_for(kCrashLoop),
          .since = api::time_at(ended["finishedAt"])};
}

// A container that is just being made, or whose turn has not come, says nothing of its own.
std::optional<Waiting> waits_in(const json::Value& pod, const json::Value& status) {
  const json::Value& waiting = status["state"]["waiting"];
  const std::string& reason = waiting["reason"].as_string();
  const std::string& message = waiting["message"].as_string();
  if (reason == kCrashLoop) return crash_loop(status);
  const bool silent =
      reason.empty() ||
      (message.empty() && (reason == "ContainerCreating" || reason == "PodInitializing"));
  if (silent) return std::nullopt;
  return Waiting{
      .reason = reason,
      .message = message,
      .remedy = remedy_for(reason),
      .since = api::time_at(api::condition_of(pod, "PodScheduled")["lastTransitionTime"])};
}

std::optional<Waiting> why_waits(const json::Value& pod) {
  if (api::is_deleting(pod) || api::is_finished(api::phase_of(pod))) return std::nullopt;
  std::optional<Waiting> worst = waits_for_a_place(pod);
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const json::Value& status : pod["status"][list].as_array()) {
      auto one = waits_in(pod, status);
      if (one && (!worst || rank_of(*one) < rank_of(*worst))) worst = std::move(one);
    }
  }
  const json::Value& never = api::condition_of(pod, api::kCannotStart);
  if (worst && never["status"].as_string() == "True") {
    worst->for_ever = true;
    worst->reason = never["reason"].as_string();
    worst->message = never["message"].as_string();
    worst->remedy =
        worst->reason == api::cannot_start::kNeverFits ? "ask for less, or run it elsewhere" : "";
  }
  return worst;
}

}  // namespace

std::optional<Waiting> why_waiting(const std::vector<cluster::ObjectPtr>& pods) {
  std::optional<Waiting> worst;
  for (const auto& pod : pods) {
    auto one = why_waits(*pod);
    if (!one) continue;
    one->pods = 1;
    if (!worst || rank_of(*one) < rank_of(*worst)) {
      worst = std::move(one);
    } else if (one->reason == worst->reason) {
      ++worst->pods;
      if (one->since && (!worst->since || *one->since < *worst->since)) worst->since = one->since;
    }
  }
  return worst;
}

std::vector<Waiting> blocked_on_nodes(const json::Value& job) {
  std::vector<Waiting> all;
  const auto nodes = plan::blocked_from_json(job["status"][plan::kStatusKey]["blockedOnNode"]);
  for (const auto& [name, node] : nodes) {
    Waiting waiting{
        .reason = "BlockedOnNode",
        .message = fmt::format("node {} has not answered since {}; {} cannot be made anew before "
                               "their pods there are gone",
                               name, format_time(node.since), node.ranks_text()),
        .remedy = plan::blocked_remedy(api::namespace_of(job), api::uid_of(job), name),
        .since = node.since,
        .node = name};
    for (const auto& [role, indexes] : node.ranks) waiting.pods += static_cast<int>(indexes.size());
    all.push_back(std::move(waiting));
  }
  return all;
}

std::optional<Waiting> why_waiting(const json::Value& job,
                                   const std::vector<cluster::ObjectPtr>& pods) {
  auto blocked = blocked_on_nodes(job);
  if (blocked.empty()) return why_waiting(pods);
  return std::move(blocked.front());
}

}  // namespace muster::cli
