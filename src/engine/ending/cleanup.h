#pragma once

#include <vector>

#include "engine/action.h"
#include "engine/observed.h"
#include "plan/ledger.h"
#include "plan/plan.h"

// What goes when the job has ended.
namespace muster::engine {

// The policy of a role for the way the job ended.
plan::CleanUp clean_up_policy(const plan::Role& role, const plan::Ledger& ledger);

// Pods as their roles' policies say; the objects of a role's ranks unless it keeps all of its pods,
// other objects unless every role does.
void clean_up(const plan::Plan& plan, const Observed& observed, const plan::Ledger& ledger,
              std::vector<Action>& wave);

}  // namespace muster::engine
