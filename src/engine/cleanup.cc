#include "engine/cleanup.h"

#include <algorithm>

namespace muster::engine {
namespace {

bool ended_by_limit(const plan::Ledger& ledger) {
  return ledger.cause && (ledger.cause->kind == plan::CauseKind::Deadline ||
                          ledger.cause->kind == plan::CauseKind::BackoffLimit);
}

// A pod of a role that the plan has no more is nobody's to keep while it runs.
plan::CleanUp policy_for(const PodView& pod, const plan::Plan& plan, const plan::Ledger& ledger) {
  const plan::Role* role = plan.role(pod.role);
  return role == nullptr ? plan::CleanUp::Running : clean_up_policy(*role, ledger);
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

// Objects stay only where the user asked for everything to stay; a limit does not change that.
bool objects_stay(const plan::Plan& plan, const plan::Ledger& ledger) {
  return std::ranges::all_of(plan.roles, [&](const plan::Role& role) {
    const auto wished = ledger.phase == plan::Phase::Succeeded ? role.on_success : role.on_failure;
    return wished == plan::CleanUp::None;
  });
}

bool outlives_the_end(const plan::Plan& plan, const ObjectView& object) {
  return std::ranges::any_of(plan.objects, [&](const plan::Object& planned) {
    return planned.until == plan::Until::JobGone && planned.id.resource == object.resource &&
           (!planned.each_rank_of.empty() || planned.id.name == object.name);
  });
}

}  // namespace

plan::CleanUp clean_up_policy(const plan::Role& role, const plan::Ledger& ledger) {
  if (ended_by_limit(ledger)) return role.on_limit;
  return ledger.phase == plan::Phase::Succeeded ? role.on_success : role.on_failure;
}

void clean_up(const plan::Plan& plan, const Observed& observed, const plan::Ledger& ledger,
              std::vector<Action>& wave) {
  for (const PodView& pod : observed.pods) {
    const plan::CleanUp policy = policy_for(pod, plan, ledger);
    if (pod.deleting || !goes(pod, policy)) continue;
    // One that is to go because it runs may have ended since we saw it: then it stays.
    const bool as_seen = policy == plan::CleanUp::Running;
    wave.emplace_back(DeletePod{.name = pod.name,
                                .uid = pod.uid,
                                .resource_version = as_seen ? pod.resource_version : "",
                                .reason = Reason::CleanUp});
  }
  if (objects_stay(plan, ledger)) return;
  for (const ObjectView& object : observed.objects) {
    if (object.deleting || outlives_the_end(plan, object)) continue;
    wave.emplace_back(DeleteObject{.resource = object.resource,
                                   .name = object.name,
                                   .uid = object.uid,
                                   .reason = Reason::CleanUp});
  }
}

}  // namespace muster::engine
