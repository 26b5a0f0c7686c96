#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"
#include "engine/census.h"
#include "plan/plan.h"
#include "plan/verdict.h"

// When a failed rank is tried again, how often, and how the tries are counted.
namespace muster::engine {

// The ranks whose failure asks for a new pod and is not yet in the ledger.
std::vector<const Rank*> newly_failed(const Census& census, const plan::Ledger& ledger);

// Writes a retry into the ledger: it must be stored before the failed pod is deleted.
void record_retry(plan::Ledger& ledger, const Rank& rank, Time now);

// Forgets retries whose new pod is running or ended.
void forget_recovered(plan::Ledger& ledger, const Census& census);

// Adds what the ledger remembers to the restarts counted from the pods, so that sums never fall.
void settle_restarts(plan::Ledger& ledger, plan::Counts& counts);

// Restarts that count against the back-off limit.
std::int64_t counted_restarts(const plan::Plan& plan, const plan::Counts& counts);

// How long after its n-th failure a rank is made anew: at once, then 1 s doubling to 5 min.
Duration retry_delay(std::int64_t attempt);

}  // namespace muster::engine
