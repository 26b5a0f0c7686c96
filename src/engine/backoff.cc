#include "engine/backoff.h"

#include <algorithm>

namespace muster::engine {
namespace {

// Ended, and about to be started again by the kubelet.
bool awaits_restart(const ContainerView& container, bool always) {
  if (container.exit_code) return always || *container.exit_code != 0;
  return !container.running && container.reason == "CrashLoopBackOff";
}

std::int64_t awaiting_restart(const Rank& rank) {
  if (!rank.is(RankState::Running) && !rank.is(RankState::Pending)) return 0;
  if (!rank.role->restarts_in_place() || rank.pod->disruption_target) return 0;
  const bool always = rank.role->pod["spec"]["restartPolicy"].as_string() == "Always";
  return std::ranges::count_if(rank.pod->containers, [&](const ContainerView& container) {
    return !container.init && awaits_restart(container, always);
  });
}

// Nothing has failed for good there, but a rank that was restarted in place says most.
const Rank* most_restarted(const Census& census) {
  const Rank* most = nullptr;
  for (const Rank& rank : census.ranks()) {
    if (rank.is(RankState::Absent) || rank.pod == nullptr) continue;
    const auto tries = [](const Rank& r) { return r.pod->restarts() + awaiting_restart(r); };
    if (tries(rank) == 0) continue;
    if (most == nullptr || tries(rank) > tries(*most)) most = &rank;
  }
  return most;
}

std::int64_t failed_pods(const plan::Counts& counts) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count.failed;
  return sum;
}

// Of the pods that live.
std::int64_t restarts_in_place(const Census& census) {
  std::int64_t sum = 0;
  for (const Rank& rank : census.ranks()) {
    if (rank.lives() && rank.role->restarts_in_place()) sum += rank.pod->restarts();
  }
  return sum;
}

}  // namespace

void settle_restarts(plan::Ledger& ledger, plan::Counts& counts) {
  for (auto& [name, role] : ledger.roles) {
    std::int64_t& sum = counts[name].restarts;
    for (const auto& [index, attempts] : role.attempts) sum += attempts;
    sum += role.retired;
    if (sum < role.restarts) {
      // A pod went and took its count along; from now on the ledger carries it.
      role.retired += role.restarts - sum;
      sum = role.restarts;
    }
  }
  for (const auto& [name, count] : counts) {
    if (count.restarts > 0) ledger.roles[name].restarts = count.restarts;
  }
}

std::int64_t counted_restarts(const plan::Ledger& ledger, const plan::Counts& counts,
                              const Census& census) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count.restarts;
  for (const auto& [name, role] : ledger.roles) sum -= role.disruptions;
  for (const Rank& rank : census.ranks()) {
    if (rank.is(RankState::Retryable)) ++sum;
    sum += awaiting_restart(rank);
  }
  return sum;
}

std::optional<Exhausted> exceeds_backoff(const plan::Plan& plan, const plan::Ledger& ledger,
                                         const plan::Counts& counts, const Census& census) {
  if (!plan.limits.backoff) return std::nullopt;
  const std::int64_t limit = *plan.limits.backoff;
  const bool exceeded = plan.backoff_counts == plan::BackoffCounts::FailedPods
                            ? failed_pods(counts) > limit ||
                                  restarts_in_place(census) >= std::max<std::int64_t>(limit, 1)
                            : counted_restarts(ledger, counts, census) > limit;
  if (!exceeded) return std::nullopt;
  const auto failed = std::ranges::find_if(census.ranks(), [](const Rank& rank) {
    return rank.is(RankState::Retryable) || rank.is(RankState::Lost);
  });
  return Exhausted{failed != census.ranks().end() ? &*failed : most_restarted(census)};
}

}  // namespace muster::engine
