#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "cli/context.h"
#include "rt/task.h"

namespace muster::cli {

// How much a home remembers: logs of runs and what is written down of them. What is above it goes,
// the run that ended first before the others, and never one that still runs.
struct Quota {
  std::uint64_t bytes = std::uint64_t{1} << 30U;
  std::size_t runs = 200;

  // As MUSTER_KEEP_BYTES (1Gi, but at most an eighth of the disk) and MUSTER_KEEP_RUNS say; what is
  // not there is the usual, and so is what is no number, with a warning.
  static Quota from(const Context& context);
};

// Removes what is too much. `living`: uids of the runs and pods that had not ended at `as_of`; what
// began later lives too. Blocks: for the pool. Returns the uids of runs that have a record without
// an end and do not live.
std::set<std::string> keep_within(const std::string& home, const Quota& quota,
                                  const std::set<std::string>& living, Time as_of = Time::max());

// The same for a machine that is a node of a cluster and has no history: logs of pods that are
// gone. Looks every ten minutes until it is cancelled.
Task<void> keep_node_within(Context& context, Quota quota);

}  // namespace muster::cli
