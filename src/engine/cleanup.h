#pragma once

#include "base/time.h"
#include "engine/decide.h"
#include "engine/observed.h"
#include "plan/plan.h"

namespace muster::engine {

// What goes when the job has ended: pods and objects as the plan's policy says.
void clean_up(const plan::Plan& plan, const Observed& observed, const plan::Ledger& ledger,
              std::vector<Action>& wave);

// The job itself, once its time after the end is over; until then, when to look again.
void expire(const plan::Ledger& ledger, Time now, Decision& decision);

}  // namespace muster::engine
