#include "engine/census.h"

#include <algorithm>

#include "engine/retry.h"

namespace muster::engine {
namespace {

const plan::RoleLedger& remembered(const plan::Ledger& ledger, const plan::Role& role) {
  static const plan::RoleLedger nothing;
  const auto found = ledger.roles.find(role.name);
  return found == ledger.roles.end() ? nothing : found->second;
}

// Whether a pod was alive when we last looked and is on its way out without our doing, or gone.
bool is_lost(const Rank& rank, const plan::RoleLedger& known) {
  if (!rank.role->remembers() || rank.ambiguous || !known.seen.contains(rank.index)) return false;
  if (rank.pod == nullptr || rank.superseded) return true;
  return rank.pod->deleting && !api::is_finished(rank.pod->phase);
}

// A pod on its way out says nothing any more: its end was our doing or somebody's wish. Where the
// ledger tells the two apart it counts as long as it was not our doing.
bool says_nothing(const Rank& rank, const plan::RoleLedger& known) {
  if (rank.pod == nullptr || rank.ambiguous || rank.superseded) return true;
  if (!rank.pod->deleting) return false;
  return !rank.role->remembers() || !known.seen.contains(rank.index);
}

// The cluster takes the pod away and said so: as good as failed, whether it still runs, has ended
// on its way out, or is about to go. So it means the same whenever we happen to look.
bool is_taken_away(const Rank& rank) {
  if (rank.pod == nullptr || rank.ambiguous || rank.superseded || rank.role->remembers())
    return false;
  return rank.pod->deleting && rank.pod->disruption_target;
}

RankState state_of(const Rank& rank, const plan::RoleLedger& known) {
  if (known.done.contains(rank.index)) return RankState::Succeeded;
  if (is_lost(rank, known)) return RankState::Lost;
  const ContainerView* main = rank.main();
  if (is_taken_away(rank)) return after_failure(rank.role->retry, *rank.pod, main);
  if (says_nothing(rank, known)) return RankState::Absent;
  switch (rank.pod->phase) {
    case api::PodPhase::Running:
      return RankState::Running;
    case api::PodPhase::Succeeded:
      return main == nullptr || main->exit_code.value_or(0) == 0 ? RankState::Succeeded
                                                                 : RankState::Pending;
    case api::PodPhase::Failed:
      return after_failure(rank.role->retry, *rank.pod, main);
    case api::PodPhase::Pending:
    case api::PodPhase::Unknown:
      break;
  }
  return RankState::Pending;
}

// No job has more ranks; a pod with a higher index was not made by us.
constexpr int kMostRanks = 100'000;

// How many ranks a role has. Those of a work queue have no fixed number: whoever is there is one.
int size_of(const plan::Role& role, const std::vector<PodView>& pods, const plan::Ledger& ledger) {
  if (role.completion != plan::Completion::WorkQueue) return role.replicas;
  int size = std::max(role.replicas, remembered(ledger, role).done.end());
  for (const PodView& pod : pods) {
    if (pod.role == role.name && pod.index < kMostRanks) size = std::max(size, pod.index + 1);
  }
  return size;
}

// Finished pods that stay although their rank goes on without them.
bool is_kept(const plan::Role& role, const PodView& pod) {
  return api::is_finished(pod.phase) && (role.retry.keep_failed || role.remembers());
}

void add(Tally& tally, RankState state) {
  if (state == RankState::Running || state == RankState::Pending) ++tally.living;
  switch (state) {
    case RankState::Running:
      ++tally.running;
      break;
    case RankState::Succeeded:
      ++tally.succeeded;
      break;
    case RankState::Failed:
      ++tally.failed;
      break;
    default:
      ++tally.others;
  }
}

using Stage = plan::RankReport::Stage;

bool all_run(const PodView& pod) {
  return std::ranges::all_of(pod.containers, [](const ContainerView& container) {
    return container.init || container.running;
  });
}

// A pod that waits for an object which gates its containers has its address by then.
Stage stage_of(const Rank& rank) {
  if (rank.is(RankState::Succeeded)) return Stage::Succeeded;
  if (rank.is(RankState::Failed)) return Stage::Failed;
  const PodView& pod = *rank.pod;
  if (pod.phase == api::PodPhase::Unknown) return Stage::Unknown;
  if (pod.phase == api::PodPhase::Running) return all_run(pod) ? Stage::Running : Stage::Starting;
  return pod.ip.empty() ? Stage::Pending : Stage::Starting;
}

}  // namespace

const ContainerView* Rank::main() const {
  return pod == nullptr ? nullptr : pod->container(role->main_container);
}

Census::Census(const plan::Plan& plan, const std::vector<PodView>& pods, const plan::Ledger& ledger)
    : plan_(plan), pods_(pods) {
  make_ranks(pods, ledger);
  for (const PodView& pod : pods) take(pod, ledger);
  tallies_.resize(plan.roles.size());
  for (std::size_t i = 0; i < plan.roles.size(); ++i) {
    const plan::RoleLedger& known = remembered(ledger, plan.roles[i]);
    for (std::size_t at = first_[i]; at < first_[i + 1]; ++at) {
      Rank& rank = ranks_[at];
      rank.superseded = rank.pod != nullptr && rank.pod->attempt < known.attempts.at(rank.index);
      rank.state = state_of(rank, known);
      add(tallies_[i], rank.state);
    }
  }
}

void Census::make_ranks(const std::vector<PodView>& pods, const plan::Ledger& ledger) {
  for (const plan::Role& role : plan_.roles) {
    first_.push_back(ranks_.size());
    const int size = size_of(role, pods, ledger);
    for (int index = 0; index < size; ++index) ranks_.push_back({.role = &role, .index = index});
  }
  first_.push_back(ranks_.size());
}

void Census::take(const PodView& pod, const plan::Ledger& ledger) {
  const auto at = place(pod.role, pod.index);
  const plan::Role* role = at ? ranks_[*at].role : plan_.role(pod.role);
  const bool kept = role != nullptr && is_kept(*role, pod);
  if (!at) {
    if (!kept) surplus_.push_back(&pod);
    return;
  }
  // A try of a rank that has gone on to the next one.
  if (kept && pod.attempt < remembered(ledger, *role).attempts.at(pod.index)) return;
  if (pod.epoch != ledger.epoch && !(kept && role->remembers())) {
    surplus_.push_back(&pod);
    return;
  }
  Rank& rank = ranks_[*at];
  rank.ambiguous = rank.pod != nullptr;
  rank.pod = &pod;
}

// A job has a handful of roles, and thousands of ranks.
std::optional<std::size_t> Census::place(std::string_view role, int index) const {
  for (std::size_t i = 0; i < plan_.roles.size(); ++i) {
    if (plan_.roles[i].name != role) continue;
    const std::size_t at = first_[i] + static_cast<std::size_t>(std::max(index, 0));
    return index < 0 || at >= first_[i + 1] ? std::nullopt : std::optional(at);
  }
  return std::nullopt;
}

const Rank* Census::rank(std::string_view role, int index) const {
  const auto at = place(role, index);
  return at ? &ranks_[*at] : nullptr;
}

std::vector<const PodView*> Census::pods_of(const plan::Role& role) const {
  std::vector<const PodView*> all;
  for (const PodView& pod : pods_) {
    if (pod.role == role.name) all.push_back(&pod);
  }
  return all;
}

std::span<const Rank> Census::ranks_of(const plan::Role& role) const {
  const auto at = static_cast<std::size_t>(&role - plan_.roles.data());
  return std::span(ranks_).subspan(first_[at], first_[at + 1] - first_[at]);
}

const Tally& Census::tally(const plan::Role& role) const {
  return tallies_[static_cast<std::size_t>(&role - plan_.roles.data())];
}

plan::Counts count(const plan::Plan& plan, const Census& census) {
  plan::Counts counts;
  for (const plan::Role& role : plan.roles) {
    const Tally& tally = census.tally(role);
    counts[role.name] = {.active = tally.running,
                         .pending = tally.others,
                         .succeeded = tally.succeeded,
                         .failed = tally.failed};
  }
  plan::RoleCount* current = nullptr;
  const plan::Role* role = nullptr;
  for (const Rank& rank : census.ranks()) {
    if (rank.role != role) {
      role = rank.role;
      current = &counts[role->name];
    }
    if (rank.pod != nullptr && !rank.ambiguous) current->restarts += rank.pod->restarts();
  }
  return counts;
}

namespace {

std::vector<plan::ContainerReport> report_containers(const PodView& pod) {
  std::vector<plan::ContainerReport> out;
  for (const ContainerView& container : pod.containers) {
    if (container.init) continue;
    const bool ended = container.exit_code.has_value();
    out.push_back({.name = container.name,
                   .state = ended ? "Terminated" : (container.running ? "Running" : "Waiting"),
                   .exit_code = container.exit_code});
  }
  return out;
}

}  // namespace

std::vector<plan::RankReport> report(const Census& census) {
  std::vector<plan::RankReport> out;
  for (const Rank& rank : census.ranks()) {
    if (rank.is(RankState::Absent) || rank.failed_anew()) continue;
    out.push_back({.role = rank.role->name,
                   .pod = rank.pod->name,
                   .uid = rank.pod->uid,
                   .stage = stage_of(rank),
                   .containers = report_containers(*rank.pod)});
  }
  return out;
}

}  // namespace muster::engine
