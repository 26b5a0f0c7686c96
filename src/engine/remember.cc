#include "engine/remember.h"

#include <algorithm>

namespace muster::engine {
namespace {

// True when a success is news.
bool remember_success(const Rank& rank, plan::RoleLedger& known) {
  if (!rank.is(RankState::Succeeded) || known.done.contains(rank.index)) return false;
  known.done.insert(rank.index);
  known.seen.erase(rank.index);
  known.failures_in_a_row = 0;
  known.pause_until.reset();
  return true;
}

void remember_role(const plan::Role& role, const Census& census, plan::Ledger& ledger, Time now,
                   Remembered& news) {
  plan::RoleLedger& known = ledger.roles[role.name];
  const auto ranks = census.ranks_of(role);
  if (known.seen.end() > static_cast<int>(ranks.size())) {
    known.seen.erase_from(static_cast<int>(ranks.size()));
    news.store_first = true;
  }
  for (const Rank& rank : ranks) {
    if (rank.lives()) known.seen.insert(rank.index);
    if (!remember_success(rank, known)) continue;
    news.store_first = true;
    Time& last = news.last_success[role.name];
    last = std::max(last, rank.pod->finished_at.value_or(now));
  }
}

}  // namespace

Remembered remember(const plan::Plan& plan, const Census& census, plan::Ledger& ledger, Time now) {
  Remembered news;
  for (const plan::Role& role : plan.roles) {
    if (role.remembers()) remember_role(role, census, ledger, now, news);
  }
  return news;
}

void forget_seen(plan::Ledger& ledger, const Rank& rank) {
  if (rank.role->remembers()) ledger.roles[rank.role->name].seen.erase(rank.index);
}

void count_remembered(const plan::Plan& plan, const Census& census, const plan::Ledger& ledger,
                      plan::Counts& counts) {
  for (const plan::Role& role : plan.roles) {
    if (!role.remembers()) continue;
    const plan::RoleLedger& known = ledger.roles.at(role.name);
    const auto failing = std::ranges::count_if(census.ranks_of(role), &Rank::failed_anew);
    counts[role.name].failed = static_cast<int>(known.attempts.sum() + failing);
  }
}

void count_stopped(const plan::Plan& plan, plan::Phase phase, plan::Counts& counts) {
  for (const plan::Role& role : plan.roles) {
    if (!role.remembers()) continue;
    plan::RoleCount& count = counts[role.name];
    if (phase == plan::Phase::Failed) count.failed += count.living;
    count.active = count.pending = 0;
  }
}

void count_living(const plan::Plan& plan, const std::vector<PodView>& pods, plan::Counts& counts) {
  for (const PodView& pod : pods) {
    const plan::Role* role = plan.role(pod.role);
    if (role == nullptr || !role->remembers() || api::is_finished(pod.phase)) continue;
    plan::RoleCount& count = counts[role->name];
    ++(pod.deleting ? count.leaving : count.living);
    if (!pod.deleting && pod.ready) ++count.ready;
  }
}

}  // namespace muster::engine
