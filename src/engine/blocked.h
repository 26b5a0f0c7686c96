#pragma once

#include "base/time.h"
#include "engine/decide.h"
#include "engine/observed.h"
#include "plan/plan.h"

// Nodes that do not answer and hold pods of a job.
namespace muster::engine {

// Names them in the decision's ledger and says so once of each; those that are resolved are named
// no more. Changes nothing of what is done.
void name_blocked_nodes(const plan::JobRef& job, const Observed& observed, Time now,
                        Decision& decision);

}  // namespace muster::engine
