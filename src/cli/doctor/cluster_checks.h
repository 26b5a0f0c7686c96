#pragma once

#include <vector>

#include "cli/doctor/cluster_facts.h"
#include "cli/doctor/finding.h"

namespace muster::cli {

// Whether that user can run jobs on that cluster, check by check.
std::vector<Finding> check_cluster(const ClusterFacts& facts);

}  // namespace muster::cli
