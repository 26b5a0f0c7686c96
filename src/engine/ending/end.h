#pragma once

#include <optional>

#include "base/time.h"
#include "engine/decide.h"
#include "plan/verdict.h"

// Ends, and what every decision about them is made of.
namespace muster::engine {

// The ledger is stored with microseconds; deciding with more would not survive the round trip.
Time stored_precision(Time now);

void wake_no_later_than(Decision& decision, Time at);

// Nothing to do, nothing to say: the verdict repeats what is stored.
Decision keep(const Observed& observed);

// A terminal verdict. It is stored before clean-up removes what it was read from.
void end(Decision& decision, plan::Phase phase, const std::optional<plan::Cause>& cause, Time now);

// The job itself, once its time after the end is over; until then, when to look again.
void expire(const plan::Ledger& ledger, Time now, Decision& decision);

}  // namespace muster::engine
