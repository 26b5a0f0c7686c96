#include "engine/census.h"

#include "engine/retry.h"

namespace muster::engine {
namespace {

// A pod on its way out says nothing any more: its end was our doing or somebody's wish.
RankState state_of(const Rank& rank) {
  if (rank.pod == nullptr || rank.ambiguous || rank.superseded || rank.pod->deleting)
    return RankState::Absent;
  const ContainerView* main = rank.main();
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

void add(Tally& tally, RankState state) {
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

}  // namespace

const ContainerView* Rank::main() const {
  return pod == nullptr ? nullptr : pod->container(role->main_container);
}

Census::Census(const plan::Plan& plan, const std::vector<PodView>& pods, const plan::Ledger& ledger)
    : plan_(plan) {
  for (const plan::Role& role : plan.roles) {
    first_.push_back(ranks_.size());
    for (int index = 0; index < role.replicas; ++index)
      ranks_.push_back({.role = &role, .index = index});
  }
  tallies_.resize(plan.roles.size());
  for (const PodView& pod : pods) {
    const auto at = place(pod.role, pod.index);
    if (!at || pod.epoch != ledger.epoch) {
      surplus_.push_back(&pod);
      continue;
    }
    Rank& rank = ranks_[*at];
    rank.ambiguous = rank.pod != nullptr;
    rank.pod = &pod;
  }
  for (Rank& rank : ranks_) {
    const auto role = ledger.roles.find(rank.role->name);
    rank.superseded = rank.pod != nullptr && role != ledger.roles.end() &&
                      rank.pod->attempt < role->second.attempt(rank.index);
    rank.state = state_of(rank);
    add(tallies_[static_cast<std::size_t>(rank.role - plan.roles.data())], rank.state);
  }
}

// A job has a handful of roles, and thousands of ranks.
std::optional<std::size_t> Census::place(std::string_view role, int index) const {
  for (std::size_t i = 0; i < plan_.roles.size(); ++i) {
    if (plan_.roles[i].name != role) continue;
    if (index < 0 || index >= plan_.roles[i].replicas) return std::nullopt;
    return first_[i] + static_cast<std::size_t>(index);
  }
  return std::nullopt;
}

const Rank* Census::rank(std::string_view role, int index) const {
  const auto at = place(role, index);
  return at ? &ranks_[*at] : nullptr;
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

}  // namespace muster::engine
