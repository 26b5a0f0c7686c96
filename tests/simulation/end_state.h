#pragma once

#include <string>

#include "cluster/cluster.h"
#include "plan/dialect.h"

namespace muster::simulation {

// What is left, as text that can be compared between two runs: every field of the jobs, pods and
// services, but for times, uids, versions and addresses; of config maps and secrets their names.
struct EndState {
  std::string all;
  std::string
      essence;        // how the jobs ended, their restarts, and which children exist in which phase
  std::string phase;  // of the one job; empty when it is gone
};

Task<EndState> read_end_state(cluster::Cluster& cluster, const plan::Identity& identity);

}  // namespace muster::simulation
