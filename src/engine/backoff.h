#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"
#include "engine/census.h"
#include "plan/ledger.h"
#include "plan/plan.h"

// How restarts are summed, and when there were too many. One sum for a job: containers that the
// kubelet started again, and pods that we made anew; what the cluster caused does not count. Where
// the plan counts failed pods (plan::BackoffCounts) every one counts, and restarts in place are a
// sum of their own.
namespace muster::engine {

// Adds what the ledger remembers to the restarts counted from the pods, so that sums never fall.
void settle_restarts(plan::Ledger& ledger, plan::Counts& counts);

// The rank that fails because one more try would be above the limit, of the job or of its role;
// nothing while none is reached. The limit is what it is for a batch/v1 Job: so many restarts may
// be, and no more. Those count too that have to come next: of pods that failed and of containers
// that ended in a pod that lives on.
struct Exhausted {
  const Rank* rank = nullptr;
};
std::optional<Exhausted> exceeds_backoff(const plan::Plan& plan, const plan::Ledger& ledger,
                                         const plan::Counts& counts, const Census& census);

}  // namespace muster::engine
