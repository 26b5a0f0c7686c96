#include "engine/restarts.h"

#include <algorithm>

namespace muster::engine {

using std::chrono::seconds;

std::vector<const Rank*> newly_failed(const Census& census, const plan::Ledger& ledger) {
  std::vector<const Rank*> ranks;
  for (const Rank& rank : census.ranks) {
    if (!rank.retryable()) continue;
    const auto replaced = ledger.replaced.find(rank.key());
    if (replaced == ledger.replaced.end() || replaced->second != rank.pod->uid)
      ranks.push_back(&rank);
  }
  return ranks;
}

void record_retry(plan::Ledger& ledger, const Rank& rank, Time now) {
  const std::string key = rank.key();
  const std::int64_t attempt = ++ledger.attempts[key];
  ledger.replaced[key] = rank.pod->uid;
  if (const Duration delay = retry_delay(attempt); delay > Duration::zero()) {
    ledger.not_before[key] = now + delay;
  }
}

void forget_recovered(plan::Ledger& ledger, const Census& census) {
  for (const Rank& rank : census.ranks) {
    if (!rank.present()) continue;
    const auto replaced = ledger.replaced.find(rank.key());
    if (replaced == ledger.replaced.end() || replaced->second == rank.pod->uid) continue;
    if (rank.pod->phase == api::PodPhase::Pending || rank.pod->phase == api::PodPhase::Unknown)
      continue;
    ledger.not_before.erase(rank.key());
    ledger.replaced.erase(replaced);
  }
  // A rank that was scaled away has nothing to recover.
  const auto gone = [&](const auto& entry) {
    return std::ranges::none_of(census.ranks,
                                [&](const Rank& r) { return r.key() == entry.first; });
  };
  std::erase_if(ledger.replaced, gone);
  std::erase_if(ledger.not_before, gone);
}

void settle_restarts(plan::Ledger& ledger, plan::Counts& counts) {
  for (const auto& [key, attempts] : ledger.attempts) {
    counts[key.substr(0, key.rfind('/'))].restarts += attempts;
  }
  for (auto& [role, count] : counts) {
    const auto retired = ledger.retired.find(role);
    if (retired != ledger.retired.end()) count.restarts += retired->second;
    const auto reported = ledger.restarts.find(role);
    if (reported != ledger.restarts.end() && count.restarts < reported->second) {
      // A pod went and took its count along; from now on the ledger carries it.
      ledger.retired[role] += reported->second - count.restarts;
      count.restarts = reported->second;
    }
    if (count.restarts > 0) ledger.restarts[role] = count.restarts;
  }
}

std::int64_t counted_restarts(const plan::Plan& plan, const plan::Counts& counts) {
  std::int64_t sum = 0;
  for (const plan::Role& role : plan.roles) {
    const auto found = counts.find(role.name);
    if (role.counts_restarts && found != counts.end()) sum += found->second.restarts;
  }
  return sum;
}

Duration retry_delay(std::int64_t attempt) {
  if (attempt <= 1) return Duration::zero();
  const std::int64_t doublings = std::min<std::int64_t>(attempt - 2, 9);
  return std::min<Duration>(seconds(1) * (std::int64_t{1} << doublings), seconds(300));
}

}  // namespace muster::engine
