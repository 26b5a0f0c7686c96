#pragma once

#include "base/time.h"
#include "plan/ledger.h"
#include "plan/plan.h"

// Suspend and resume, and edits that nobody who runs can follow. A plan with another run key begins
// another epoch: whatever ran before is deleted and never counted again, and the restarts that were
// seen stay in the sums.
namespace muster::engine {

enum class EpochChange {
  None,
  Adopted,  // the first run of a job: its key is remembered, and no epoch ends
  Held,
  Resumed,
  Renewed,  // another run without a pause between the two
};

// Brings the ledger to the plan's run key. A change has to be stored before pods of the old epoch
// are deleted, and before the first pods are made: a later look must know of what run they are.
EpochChange enter_epoch(const plan::Plan& plan, plan::Ledger& ledger, Time now);

}  // namespace muster::engine
