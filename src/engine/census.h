#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/observed.h"
#include "plan/plan.h"

namespace muster::engine {

// One rank that should exist, and the pod that holds it now.
struct Rank {
  const plan::Role* role = nullptr;
  int index = 0;
  const PodView* pod = nullptr;
  bool ambiguous = false;  // two pods claim it: neither counts, neither is touched

  [[nodiscard]] std::string key() const { return plan::rank_key(role->name, index); }
  // A pod on its way out says nothing any more: its end was our doing or somebody's wish.
  [[nodiscard]] bool present() const { return pod != nullptr && !ambiguous && !pod->deleting; }
  [[nodiscard]] bool running() const { return present() && pod->phase == api::PodPhase::Running; }
  [[nodiscard]] bool succeeded() const;
  [[nodiscard]] bool failed() const { return present() && pod->phase == api::PodPhase::Failed; }
  // Of the main container, once it ended.
  [[nodiscard]] std::optional<int> exit_code() const;
  // Failed in a way that its role answers with a new pod.
  [[nodiscard]] bool retryable() const;
};

// The pods of a job, sorted into ranks in role and index order; `surplus` holds those that no rank
// of the current plan wants.
struct Census {
  std::vector<Rank> ranks;
  std::vector<const PodView*> surplus;
};

Census take_census(const plan::Plan& plan, const std::vector<PodView>& pods, std::int64_t epoch);

plan::Counts count(const plan::Plan& plan, const Census& census);

// 130, 137, 138 and 143; 138 is what a program exits with to ask for a retry.
bool is_retryable(int exit_code);

}  // namespace muster::engine
