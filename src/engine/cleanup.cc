#include "engine/cleanup.h"

namespace muster::engine {
namespace {

bool ended_by_limit(const plan::Ledger& ledger) {
  return ledger.cause && (ledger.cause->kind == plan::CauseKind::Deadline ||
                          ledger.cause->kind == plan::CauseKind::BackoffLimit);
}

bool goes(const PodView& pod, plan::CleanUp policy) {
  switch (policy) {
    case plan::CleanUp::None:
      return false;
    case plan::CleanUp::Running:
      return !api::is_finished(pod.phase);
    case plan::CleanUp::All:
      return true;
  }
  return false;
}

}  // namespace

void clean_up(const plan::Plan& plan, const Observed& observed, const plan::Ledger& ledger,
              std::vector<Action>& wave) {
  const plan::CleanUp policy = ended_by_limit(ledger) ? plan.on_limit : plan.on_end;
  for (const PodView& pod : observed.pods) {
    if (pod.deleting || !goes(pod, policy)) continue;
    // One that is to go because it runs may have ended since we saw it: then it stays.
    const bool as_seen = policy == plan::CleanUp::Running;
    wave.emplace_back(DeletePod{.name = pod.name,
                                .uid = pod.uid,
                                .resource_version = as_seen ? pod.resource_version : "",
                                .reason = Reason::CleanUp});
  }
  // Objects stay only where the user asked for everything to stay.
  if (plan.on_end == plan::CleanUp::None) return;
  for (const ObjectView& object : observed.objects) {
    if (object.deleting) continue;
    wave.emplace_back(DeleteObject{.resource = object.resource,
                                   .name = object.name,
                                   .uid = object.uid,
                                   .reason = Reason::CleanUp});
  }
}

void expire(const plan::Ledger& ledger, Time now, Decision& decision) {
  if (!ledger.limits.ttl_seconds || !ledger.completion_time) return;
  const Time due = *ledger.completion_time + std::chrono::seconds(*ledger.limits.ttl_seconds);
  if (now < due) {
    decision.wake_at = due;
  } else {
    decision.wave.emplace_back(DeleteJob{.reason = Reason::Expired});
  }
}

}  // namespace muster::engine
