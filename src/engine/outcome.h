#pragma once

#include <optional>

#include "engine/census.h"
#include "plan/plan.h"
#include "plan/verdict.h"

namespace muster::engine {

// Whether the plan's success or failure rules are satisfied by the ranks as they stand.
std::optional<plan::Phase> outcome(const plan::Plan& plan, const Census& census);

// The first rank that failed for good, as the cause of the job's failure.
plan::Cause failure_cause(const plan::Plan& plan, const Census& census);

// The same for one rank.
plan::Cause cause_of(const Rank& rank);

}  // namespace muster::engine
