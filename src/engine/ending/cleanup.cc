#include "engine/ending/cleanup.h"

#include <algorithm>
#include <set>

#include "engine/children.h"

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

// Whether all pods of the role stay. A limit does not change that.
bool keeps_all(const plan::Role& role, const plan::Ledger& ledger) {
  const auto wished = ledger.phase == plan::Phase::Succeeded ? role.on_success : role.on_failure;
  return wished == plan::CleanUp::None;
}

// The names of what stays although the job has ended: what goes with the job itself, and what
// belongs to pods that all stay. An object that is nobody's alone stays where all of them do.
using Kept = std::set<plan::ObjectId>;

Kept kept_objects(const plan::Plan& plan, const plan::Ledger& ledger) {
  const bool all_stay = std::ranges::all_of(
      plan.roles, [&](const plan::Role& role) { return keeps_all(role, ledger); });
  Kept kept;
  for (const plan::Object& object : plan.objects) {
    const plan::Role* role = plan.role(object.each_rank_of);
    const bool pods_stay = role == nullptr ? all_stay : keeps_all(*role, ledger);
    const bool stays = object.until == plan::Until::JobGone || (pods_stay && !object.ends_with_job);
    if (!stays) continue;
    for (int index = 0; index < copies(plan, object); ++index) {
      kept.insert({object.id.resource, object_name(plan, object, index, ledger)});
    }
  }
  return kept;
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
  const Kept kept = kept_objects(plan, ledger);
  for (const ObjectView& object : observed.objects) {
    if (object.deleting || kept.contains({object.resource, object.name})) continue;
    wave.emplace_back(DeleteObject{.resource = object.resource,
                                   .name = object.name,
                                   .uid = object.uid,
                                   .reason = Reason::CleanUp});
  }
}

}  // namespace muster::engine
