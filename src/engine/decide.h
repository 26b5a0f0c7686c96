#pragma once

#include <optional>
#include <vector>

#include "base/time.h"
#include "engine/action.h"
#include "engine/observed.h"
#include "plan/ledger.h"
#include "plan/plan.h"

namespace muster::engine {

// What to do now. The actions of a wave are independent of each other: they may be sent together,
// in any order, and any of them may fail. If `commit_first` is set, the verdict must be stored
// before the wave is sent; otherwise it is stored after it, if it changed.
struct Decision {
  bool commit_first = false;
  std::vector<Action> wave;  // refers to the plan
  plan::Verdict verdict;
  std::vector<plan::Note> notes;  // transitions; creations and deletions are noted as they succeed
  std::optional<Time> wake_at;
};

// Pure and total: the same values give the same decision, on any input.
Decision decide(const plan::Plan& plan, const Observed& observed, Time now);

// For a running job whose edit made it invalid: nothing is created or deleted, the deadline holds.
Decision decide_frozen(const plan::JobRef& job, const Observed& observed, Time now);

// For a job that was invalid before anything began: Failed, for good, with what is wrong.
Decision decide_invalid(const plan::JobRef& job, const Observed& observed, const Error& error,
                        Time now);

}  // namespace muster::engine
