#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "engine/action.h"
#include "engine/census.h"
#include "engine/children.h"
#include "engine/observed.h"
#include "plan/ledger.h"
#include "plan/plan.h"

// Bringing what exists to what the plan asks for: what is missing is made, what nobody wants goes.
namespace muster::engine {

// Pods of an older epoch, of a role or index that the plan has no more, and those that were
// replaced after a failure.
void remove_surplus_pods(const Census& census, const plan::Ledger& ledger,
                         std::vector<Action>& wave);

// Ranks whose pods are more than their role may have at once: those first that have got least far.
std::vector<const Rank*> excess(const plan::Plan& plan, const Census& census);

// Objects that the plan has no more; of a suspended job also those that do not outlive it.
void remove_surplus_objects(const plan::Plan& plan, const Observed& observed,
                            const Children& children, const plan::Ledger& ledger,
                            std::vector<Action>& wave);

// What could not be made yet, and when to look again.
struct Missing {
  std::string waiting_for;
  std::optional<Time> wake_at;
};
Missing create_missing(const plan::Plan& plan, const Census& census, const Children& children,
                       const plan::Ledger& ledger, Time now, std::vector<Action>& wave);

}  // namespace muster::engine
