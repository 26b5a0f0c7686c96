#pragma once

#include <optional>

#include "engine/census.h"
#include "plan/plan.h"
#include "plan/verdict.h"

// What the ranks as they stand mean for the job.
namespace muster::engine {

bool satisfied(const plan::RankSet& set, const plan::Plan& plan, const Census& census);

// Whether the plan's success or failure rules are satisfied.
std::optional<plan::Phase> outcome(const plan::Plan& plan, const Census& census);

// The first rank that failed for good, as the cause of the job's failure.
plan::Cause failure_cause(const plan::Plan& plan, const Census& census);

// The same for one rank, also where a container was only restarted.
plan::Cause cause_of(const Rank& rank);

}  // namespace muster::engine
