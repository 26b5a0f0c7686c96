#include "engine/ending/outcome.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/ending/remark.h"

namespace muster::engine {
namespace {

using plan::RankSet;

bool has_outcome(const Rank& rank, RankSet::Outcome outcome) {
  switch (outcome) {
    case RankSet::Outcome::Succeeded:
      return rank.is(RankState::Succeeded);
    case RankSet::Outcome::Failed:
      return rank.is(RankState::Failed);
    case RankSet::Outcome::Finished:
      return rank.is(RankState::Succeeded) || rank.is(RankState::Failed);
    case RankSet::Outcome::Running:
      return rank.is(RankState::Running);
  }
  return false;
}

int how_many(const Tally& tally, RankSet::Outcome outcome) {
  switch (outcome) {
    case RankSet::Outcome::Succeeded:
      return tally.succeeded;
    case RankSet::Outcome::Failed:
      return tally.failed;
    case RankSet::Outcome::Finished:
      return tally.succeeded + tally.failed;
    case RankSet::Outcome::Running:
      return tally.running;
  }
  return 0;
}

bool satisfied_by_every_role(RankSet set, const plan::Plan& plan, const Census& census) {
  return plan.total_replicas() > 0 && std::ranges::all_of(plan.roles, [&](const plan::Role& role) {
           set.role = role.name;
           return role.replicas == 0 || satisfied(set, plan, census);
         });
}

bool any_satisfied(const std::vector<RankSet>& sets, const plan::Plan& plan, const Census& census) {
  return std::ranges::any_of(sets,
                             [&](const RankSet& set) { return satisfied(set, plan, census); });
}

}  // namespace

bool satisfied(const RankSet& set, const plan::Plan& plan, const Census& census) {
  if (set.role.empty()) return satisfied_by_every_role(set, plan, census);
  const plan::Role* role = plan.role(set.role);
  if (role == nullptr || (role->replicas == 0 && !role->remembers())) return false;
  const int matching = how_many(census.tally(*role), set.outcome);
  switch (set.quorum) {
    case RankSet::Quorum::All:
      return matching == role->replicas;
    case RankSet::Quorum::Index: {
      const Rank* rank = census.rank(set.role, set.number);
      return rank != nullptr && has_outcome(*rank, set.outcome);
    }
    case RankSet::Quorum::AtLeast:
      return matching >= set.number;
    case RankSet::Quorum::AnyAndNoneLeft:
      return matching > 0 && census.tally(*role).living == 0;
  }
  return false;
}

std::optional<plan::Phase> outcome(const plan::Plan& plan, const Census& census) {
  const bool success = any_satisfied(plan.success, plan, census);
  const bool failure = any_satisfied(plan.failure, plan, census);
  if (success && failure) {
    return plan.tie == plan::Tie::SuccessWins ? plan::Phase::Succeeded : plan::Phase::Failed;
  }
  if (success) return plan::Phase::Succeeded;
  if (failure) return plan::Phase::Failed;
  return std::nullopt;
}

plan::Cause cause_of(const Rank& rank) {
  plan::Cause cause{.kind = plan::CauseKind::PodFailed,
                    .role = rank.role->name,
                    .index = rank.index,
                    .failed = 1};
  if (rank.is(RankState::Lost)) cause.reason = "PodLost";
  if (rank.pod == nullptr) return cause;
  if (rank.pod->refused) cause.kind = plan::CauseKind::Rejected;
  cause.pod = rank.pod->name;
  cause.at = rank.pod->finished_at;
  if (const ContainerView* main = rank.main(); main != nullptr) {
    cause.exit_code = main->exit_code ? main->exit_code : main->last_exit_code;
    if (main->exit_code) {
      cause.reason = main->reason;
      cause.text = rank.role->remarks ? without_remark(main->message) : main->message;
    }
  }
  if (!rank.pod->reason.empty()) {
    cause.reason = rank.pod->reason;
    cause.text = rank.pod->message;
  }
  return cause;
}

plan::Cause failure_cause(const plan::Plan& plan, const Census& census) {
  // The earliest end counts as the first cause; pods that do not say when come last, in rank order.
  const Rank* first = nullptr;
  for (const Rank& rank : census.ranks()) {
    if (!rank.is(RankState::Failed)) continue;
    const bool earlier =
        first != nullptr && rank.pod->finished_at &&
        (!first->pod->finished_at || *rank.pod->finished_at < *first->pod->finished_at);
    if (first == nullptr || earlier) first = &rank;
  }
  if (first == nullptr) return {.text = fmt::format("no rank of {} is left", plan.job.name)};
  plan::Cause cause = cause_of(*first);
  cause.failed = census.tally(*first->role).failed;
  return cause;
}

}  // namespace muster::engine
