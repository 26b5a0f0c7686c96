#include "engine/report.h"

#include <algorithm>

namespace muster::engine {
namespace {

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

std::vector<plan::RankReport> report(const Census& census) {
  std::vector<plan::RankReport> out;
  for (const Rank& rank : census.ranks()) {
    if (rank.is(RankState::Absent) || rank.failed_anew()) continue;
    out.push_back({.role = rank.role->name,
                   .pod = rank.pod->name,
                   .uid = rank.pod->uid,
                   .stage = stage_of(rank)});
  }
  return out;
}

}  // namespace muster::engine
