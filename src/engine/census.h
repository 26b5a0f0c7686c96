#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/observed.h"
#include "plan/ledger.h"
#include "plan/plan.h"
#include "plan/verdict.h"

namespace muster::engine {

// What has become of a rank.
enum class RankState {
  Absent,     // no pod that counts: none, one on its way out, one that was replaced, or two at once
  Pending,    // its pod has not run yet, or nobody knows
  Running,    //
  Succeeded,  //
  Failed,     // for good
  Retryable,  // failed in a way that its role answers with a new pod
  Disrupted,  // taken away by the cluster, and made anew
  Lost,       // seen alive, and then gone or going without having ended; roles that remember only
};

// One rank that should exist, and the pod that holds it now.
struct Rank {
  const plan::Role* role = nullptr;
  int index = 0;
  const PodView* pod = nullptr;  // none of a rank that succeeded and is remembered
  bool ambiguous = false;        // two pods claim it: neither counts, neither is touched
  bool superseded = false;       // the ledger says that this pod was replaced: it is to go
  RankState state = RankState::Absent;

  [[nodiscard]] bool is(RankState wanted) const { return state == wanted; }
  [[nodiscard]] bool failed_anew() const {
    return state == RankState::Retryable || state == RankState::Disrupted ||
           state == RankState::Lost;
  }
  // Its pod runs or waits to.
  [[nodiscard]] bool lives() const {
    return state == RankState::Running || state == RankState::Pending;
  }
  // Its main container, once there is one.
  [[nodiscard]] const ContainerView* main() const;
};

// How many ranks of a role are in which state.
struct Tally {
  int running = 0;
  int succeeded = 0;
  int failed = 0;
  int others = 0;
  int living = 0;  // Running or Pending
};

// The pods of a job, sorted into ranks in role and index order; `surplus` holds those that no rank
// of the current plan wants. What failed and is kept, and what ended before a suspension and is
// remembered, is in neither. Lives no longer than the plan and the pods.
class Census {
 public:
  Census(const plan::Plan& plan, const std::vector<PodView>& pods, const plan::Ledger& ledger);

  [[nodiscard]] const std::vector<Rank>& ranks() const { return ranks_; }
  [[nodiscard]] std::span<const Rank> ranks_of(const plan::Role& role) const;
  [[nodiscard]] const std::vector<const PodView*>& surplus() const { return surplus_; }
  // Every pod of the role, whatever has become of it.
  [[nodiscard]] std::vector<const PodView*> pods_of(const plan::Role& role) const;
  // Null when the plan has no such rank.
  [[nodiscard]] const Rank* rank(std::string_view role, int index) const;
  [[nodiscard]] const Tally& tally(const plan::Role& role) const;

 private:
  void make_ranks(const std::vector<PodView>& pods, const plan::Ledger& ledger);
  void take(const PodView& pod, const plan::Ledger& ledger);
  [[nodiscard]] std::optional<std::size_t> place(std::string_view role, int index) const;

  const plan::Plan& plan_;
  const std::vector<PodView>& pods_;
  std::vector<std::size_t> first_;  // by role: where its ranks begin; then where all end
  std::vector<Rank> ranks_;
  std::vector<Tally> tallies_;  // by role
  std::vector<const PodView*> surplus_;
};

// As users see it; the sums of restarts are those of the pods that are there.
plan::Counts count(const plan::Plan& plan, const Census& census);

// The ranks that have a pod, in role and index order. One whose pod is on its way out, or is about
// to be replaced, has none.
std::vector<plan::RankReport> report(const Census& census);

}  // namespace muster::engine
