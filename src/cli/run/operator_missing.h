#pragma once

#include "cluster/cluster.h"
#include "plan/dialect.h"

namespace muster::cli {

// Whether somebody holds a lease to run jobs of this kind: Muster's operator, or the one that it
// replaces. An operator without leader election has none.
Task<bool> has_leader(cluster::Cluster& cluster, const plan::Dialect& dialect, Time now);

}  // namespace muster::cli
