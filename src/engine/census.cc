#include "engine/census.h"

#include <algorithm>
#include <map>

namespace muster::engine {

bool is_retryable(int exit_code) {
  return exit_code == 130 || exit_code == 137 || exit_code == 138 || exit_code == 143;
}

std::optional<int> Rank::exit_code() const {
  if (pod == nullptr) return std::nullopt;
  const ContainerView* main = pod->container(role->main_container);
  return main == nullptr ? std::nullopt : main->exit_code;
}

bool Rank::succeeded() const {
  if (!present() || pod->phase != api::PodPhase::Succeeded) return false;
  return exit_code().value_or(0) == 0;
}

bool Rank::retryable() const {
  if (!failed() || role->on_failed != plan::OnFailedPod::RecreateIfRetryable) return false;
  const auto code = exit_code();
  return code && is_retryable(*code);
}

Census take_census(const plan::Plan& plan, const std::vector<PodView>& pods, std::int64_t epoch) {
  Census census;
  std::map<std::pair<std::string_view, int>, std::size_t> place;
  for (const plan::Role& role : plan.roles) {
    for (int index = 0; index < role.replicas; ++index) {
      place[{role.name, index}] = census.ranks.size();
      census.ranks.push_back({.role = &role, .index = index});
    }
  }
  for (const PodView& pod : pods) {
    const auto found = place.find({pod.role, pod.index});
    if (found == place.end() || pod.epoch != epoch) {
      census.surplus.push_back(&pod);
      continue;
    }
    Rank& rank = census.ranks[found->second];
    rank.ambiguous = rank.pod != nullptr;
    rank.pod = &pod;
  }
  return census;
}

plan::Counts count(const plan::Plan& plan, const Census& census) {
  plan::Counts counts;
  for (const plan::Role& role : plan.roles) counts[role.name];
  for (const Rank& rank : census.ranks) {
    plan::RoleCount& count = counts[rank.role->name];
    if (rank.running()) {
      ++count.active;
    } else if (rank.succeeded()) {
      ++count.succeeded;
    } else if (rank.failed() && !rank.retryable()) {
      ++count.failed;
    } else {
      ++count.pending;
    }
    if (rank.pod != nullptr && !rank.ambiguous) count.restarts += rank.pod->restarts();
  }
  return counts;
}

}  // namespace muster::engine
