#pragma once

#include <map>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "plan/dialect.h"

namespace muster::simulation {

// What is left, as text that can be compared between two runs: every field of the jobs, pods and
// services, but for times, uids, versions and addresses; of config maps and secrets their names.
struct EndState {
  std::string all;
  std::string
      essence;  // how the jobs ended, their restarts, and which children exist in which phase
  std::map<std::string, std::string> phases;  // of the jobs that are there, by name
  std::vector<api::ObjectPtr> jobs;
  std::vector<api::ObjectPtr> pods;
};

Task<EndState> read_end_state(cluster::Cluster& cluster,
                              std::vector<const plan::Identity*> identities);

}  // namespace muster::simulation
