#pragma once

#include "base/time.h"
#include "plan/ledger.h"
#include "plan/plan.h"

// Suspend and resume. A plan with another run key begins another epoch: whatever ran before is
// deleted and never counted again, and the restarts that were seen stay in the sums.
namespace muster::engine {

enum class EpochChange { None, Held, Begun };

// Brings the ledger to the plan's run key. A change has to be stored before pods of the old epoch
// are deleted.
EpochChange enter_epoch(const plan::Plan& plan, plan::Ledger& ledger, Time now);

}  // namespace muster::engine
