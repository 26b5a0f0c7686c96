#include "engine/outcome.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster::engine {
namespace {

using plan::RankSet;

bool has_outcome(const Rank& rank, RankSet::Outcome outcome) {
  const bool failed = rank.failed() && !rank.retryable();
  switch (outcome) {
    case RankSet::Outcome::Succeeded:
      return rank.succeeded();
    case RankSet::Outcome::Failed:
      return failed;
    case RankSet::Outcome::Finished:
      return rank.succeeded() || failed;
  }
  return false;
}

bool satisfied(const RankSet& set, const plan::Plan& plan, const Census& census) {
  const plan::Role* role = plan.role(set.role);
  if (role == nullptr || role->replicas == 0) return false;
  int matching = 0;
  bool index_matches = false;
  for (const Rank& rank : census.ranks) {
    if (rank.role != role || !has_outcome(rank, set.outcome)) continue;
    ++matching;
    index_matches |= rank.index == set.number;
  }
  switch (set.quorum) {
    case RankSet::Quorum::All:
      return matching == role->replicas;
    case RankSet::Quorum::Index:
      return index_matches;
    case RankSet::Quorum::AtLeast:
      return matching >= set.number;
  }
  return false;
}

bool any_satisfied(const std::vector<RankSet>& sets, const plan::Plan& plan, const Census& census) {
  return std::ranges::any_of(sets,
                             [&](const RankSet& set) { return satisfied(set, plan, census); });
}

}  // namespace

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
                    .pod = rank.pod->name,
                    .failed = 1,
                    .exit_code = rank.exit_code(),
                    .at = rank.pod->finished_at};
  const ContainerView* main = rank.pod->container(rank.role->main_container);
  if (main != nullptr && main->exit_code) {
    cause.reason = main->reason;
    cause.text = main->message;
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
  for (const Rank& rank : census.ranks) {
    if (!rank.failed() || rank.retryable()) continue;
    const bool earlier =
        first != nullptr && rank.pod->finished_at &&
        (!first->pod->finished_at || *rank.pod->finished_at < *first->pod->finished_at);
    if (first == nullptr || earlier) first = &rank;
  }
  if (first == nullptr) return {.text = fmt::format("no rank of {} is left", plan.job.name)};
  plan::Cause cause = cause_of(*first);
  cause.failed = static_cast<int>(std::ranges::count_if(census.ranks, [&](const Rank& rank) {
    return rank.role == first->role && rank.failed() && !rank.retryable();
  }));
  return cause;
}

}  // namespace muster::engine
