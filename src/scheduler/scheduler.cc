#include "scheduler/scheduler.h"

#include "api/event.h"
#include "api/object.h"
#include "api/waiting.h"

namespace muster::scheduler {
namespace {

constexpr std::string_view kName = "default-scheduler";
constexpr std::string_view kQueueLabel = "muster.dev/queue";
constexpr Duration kFullDiskPause = std::chrono::seconds(1);

bool any(const json::Value&) {
  return true;
}

// Pods for another scheduler are none of our business, except that they use what they run on, and
// so are those whose gates are closed. Those that wait in a queue are for a scheduler that has
// queues, and here that is this one.
bool ours_or_placed(const json::Value& pod) {
  if (!pod["spec"]["nodeName"].as_string().empty()) return true;
  if (!pod["spec"]["schedulingGates"].as_array().empty()) return false;
  const std::string& scheduler = pod["spec"]["schedulerName"].as_string();
  return scheduler.empty() || scheduler == kName || !api::label_of(pod, kQueueLabel).empty();
}

std::string_view reason_for(Refused::Why why) {
  switch (why) {
    case Refused::Why::Gang:
      return api::not_placed::kGangIncomplete;
    case Refused::Why::Queue:
      return api::not_placed::kQueued;
    case Refused::Why::Claim:
      return api::not_placed::kVolumeUnbound;
    case Refused::Why::Room:
    case Refused::Why::Never:
      break;
  }
  return api::not_placed::kUnschedulable;
}

// A condition as it is from now on; it keeps the time since when it has its status.
json::Value condition(const json::Value& pod, std::string_view type, std::string_view status,
                      std::string_view reason, const std::string& message, Time now) {
  const json::Value& old = api::condition_of(pod, type);
  const bool same = old["status"].as_string() == status;
  return json::Object{
      {"type", type},
      {"status", status},
      {"reason", reason},
      {"message", message},
      {"lastProbeTime", nullptr},
      {"lastTransitionTime", same ? old["lastTransitionTime"] : json::Value(format_time(now))}};
}

json::Value not_placed(const json::Value& pod, const Refused& refused, Time now) {
  json::Value changed = pod;
  json::Array conditions;
  for (const json::Value& one : pod["status"]["conditions"].as_array()) {
    const std::string& type = one["type"].as_string();
    if (type != "PodScheduled" && type != api::kCannotStart) conditions.push_back(one);
  }
  conditions.push_back(
      condition(pod, "PodScheduled", "False", reason_for(refused.why), refused.message, now));
  if (refused.why == Refused::Why::Never) {
    conditions.push_back(condition(pod, api::kCannotStart, "True", api::cannot_start::kNeverFits,
                                   refused.message, now));
  }
  changed["status"]["conditions"] = std::move(conditions);
  return changed;
}

json::Value event_for(const json::Value& pod, const std::string& message, Time now, Rng& rng) {
  api::ObjectReference about = api::ObjectReference::of(pod);
  about.api_version = "v1";  // items of a list may come without their type
  about.kind = "Pod";
  return api::make_event({.about = std::move(about),
                          .severity = api::EventSeverity::Warning,
                          .reason = "FailedScheduling",
                          .message = message,
                          .component = std::string(kName)},
                         now, rng);
}

}  // namespace

Scheduler::Scheduler(rt::Loop& loop, cluster::Cluster& cluster, Rng& rng, Logger log)
    : loop_(loop),
      cluster_(cluster),
      rng_(rng),
      log_(log.named("scheduler")),
      changed_(loop),
      nodes_(changed_, any),
      pods_(changed_, ours_or_placed),
      claims_(changed_, any),
      node_reflector_(loop, cluster, api::nodes(), {}, nodes_, rng, log_),
      pod_reflector_(loop, cluster, api::pods(), {}, pods_, rng, log_),
      claim_reflector_(loop, cluster, api::persistent_volume_claims(), {}, claims_, rng, log_) {}

Task<void> Scheduler::run() {
  rt::TaskScope scope(loop_);
  const auto stop = [&scope] { scope.request_stop(); };
  const std::stop_callback linked(co_await rt::current_stop(), stop);
  scope.spawn(node_reflector_.run());
  scope.spawn(pod_reflector_.run());
  scope.spawn(claim_reflector_.run());
  while (co_await changed_.wait()) {
    const bool synced = node_reflector_.synced().is_set() && pod_reflector_.synced().is_set() &&
                        claim_reflector_.synced().is_set();
    if (!synced) {
      changed_.reset();
      continue;
    }
    if (!co_await schedule()) break;
  }
  co_await scope.join();
}

Task<Result<void>> Scheduler::schedule() {
  // Events of one burst are looked at together: a gang arrives as many pods.
  CO_TRY(co_await rt::yield(loop_));
  changed_.reset();
  std::vector<NodeView> nodes;
  for (const auto& [uid, node] : nodes_.all()) nodes.push_back(node);
  std::vector<PodView> pods;
  for (const auto& [uid, pod] : pods_.all()) pods.push_back(pod);
  std::vector<ClaimView> claims;
  for (const auto& [uid, claim] : claims_.all()) claims.push_back(claim);
  std::erase_if(explained_, [&](const auto& entry) { return !pods_.all().contains(entry.first); });
  Placement placement = place(nodes, pods, claims);
  rt::TaskScope scope(loop_);
  for (Binding& binding : placement.bindings) scope.spawn(bind(std::move(binding)));
  for (Refused& refused : placement.refused) {
    if (explained_[refused.uid] != refused.message) scope.spawn(explain(std::move(refused)));
  }
  co_await scope.join();
  co_return Result<void>{};
}

Task<void> Scheduler::bind(Binding binding) {
  const auto bound = co_await cluster_.bind(binding.key, binding.uid, binding.node);
  explained_.erase(binding.uid);
  if (bound) {
    // Until the watch confirms it, the place is taken.
    if (const auto found = pods_.all().find(binding.uid); found != pods_.all().end()) {
      found->second.node = binding.node;
    }
    co_return;
  }
  log_.debug("binding {}: {}", binding.key.text(), bound.error().message);
  const auto code = bound.error().code;
  if (code == ErrorCode::InsufficientStorage && !co_await rt::sleep_for(loop_, kFullDiskPause))
    co_return;
  // Gone or already bound: the watch will say. Anything else is tried again.
  if (code != ErrorCode::NotFound && code != ErrorCode::Conflict && code != ErrorCode::Cancelled)
    changed_.set();
}

Task<void> Scheduler::explain(Refused refused) {
  explained_[refused.uid] = refused.message;
  const auto pod = co_await cluster_.get(api::pods(), refused.key);
  if (!pod || api::uid_of(**pod) != refused.uid) co_return;
  const Time now = loop_.now();
  const auto told = co_await cluster_.update_status(api::pods(), not_placed(**pod, refused, now));
  if (!told && told.error().code == ErrorCode::Conflict) {  // it changed meanwhile: once more
    explained_.erase(refused.uid);
    changed_.set();
    co_return;
  }
  if (refused.why == Refused::Why::Gang) co_return;
  [[maybe_unused]] const auto event =
      co_await cluster_.create(api::events(), event_for(**pod, refused.message, now, rng_));
}

}  // namespace muster::scheduler
