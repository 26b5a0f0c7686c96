#include "engine/backoff.h"

#include <algorithm>
#include <span>

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

// What one limit is about: the ranks of one role, or of all.
struct Scope {
  const plan::Plan& plan;
  const plan::Ledger& ledger;
  const plan::Counts& counts;
  std::span<const Rank> ranks;
  const plan::Role* role = nullptr;  // none: all

  [[nodiscard]] bool holds(const std::string& name) const {
    return role == nullptr || role->name == name;
  }
};

// Nothing has failed for good there, but a rank that was restarted in place says most.
const Rank* most_restarted(const Scope& scope) {
  const Rank* most = nullptr;
  for (const Rank& rank : scope.ranks) {
    if (rank.is(RankState::Absent) || rank.pod == nullptr) continue;
    const auto tries = [](const Rank& r) { return r.pod->restarts() + awaiting_restart(r); };
    if (tries(rank) == 0) continue;
    if (most == nullptr || tries(rank) > tries(*most)) most = &rank;
  }
  return most;
}

std::int64_t failed_pods(const Scope& scope) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : scope.counts) sum += scope.holds(name) ? count.failed : 0;
  return sum;
}

// Of the pods that live.
std::int64_t restarts_in_place(const Scope& scope) {
  std::int64_t sum = 0;
  for (const Rank& rank : scope.ranks) {
    if (rank.lives() && rank.role->restarts_in_place()) sum += rank.pod->restarts();
  }
  return sum;
}

std::int64_t counted_restarts(const Scope& scope) {
  std::int64_t sum = 0;
  for (const auto& [name, count] : scope.counts) sum += scope.holds(name) ? count.restarts : 0;
  for (const auto& [name, role] : scope.ledger.roles)
    sum -= scope.holds(name) ? role.disruptions : 0;
  for (const Rank& rank : scope.ranks) {
    if (rank.is(RankState::Retryable)) ++sum;
    sum += awaiting_restart(rank);
  }
  return sum;
}

bool is_above(std::int64_t limit, const Scope& scope) {
  if (scope.plan.backoff_counts == plan::BackoffCounts::Restarts)
    return counted_restarts(scope) > limit;
  return failed_pods(scope) > limit || restarts_in_place(scope) >= std::max<std::int64_t>(limit, 1);
}

Exhausted exhausted(const Scope& scope) {
  const auto failed = std::ranges::find_if(scope.ranks, [](const Rank& rank) {
    return rank.is(RankState::Retryable) || rank.is(RankState::Lost);
  });
  return {failed != scope.ranks.end() ? &*failed : most_restarted(scope)};
}

}  // namespace

void settle_restarts(plan::Ledger& ledger, plan::Counts& counts) {
  for (auto& [name, role] : ledger.roles) {
    std::int64_t& sum = counts[name].restarts;
    sum += role.attempts.sum() + role.retired;
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

std::optional<Exhausted> exceeds_backoff(const plan::Plan& plan, const plan::Ledger& ledger,
                                         const plan::Counts& counts, const Census& census) {
  const Scope all{plan, ledger, counts, census.ranks()};
  if (plan.limits.backoff && is_above(*plan.limits.backoff, all)) return exhausted(all);
  for (const plan::Role& role : plan.roles) {
    const Scope one{plan, ledger, counts, census.ranks_of(role), &role};
    if (role.retry.limit && is_above(*role.retry.limit, one)) return exhausted(one);
  }
  return std::nullopt;
}

}  // namespace muster::engine
