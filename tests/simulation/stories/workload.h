#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "model_kubelet.h"
#include "user.h"

namespace muster::simulation {

// One story of a job: what it is, how its processes end, and what its user does.
struct Workload {
  std::string name;
  json::Value job;
  Script script;
  Task<void> (*story)(User&, json::Value job);
  std::string_view phase;  // how it ends, by the ledger; empty: the job is gone
  bool racy = false;       // what is made and seen on the way depends on who is faster
  bool full = false;       // every fault, not only crashes and events that come late or not at all
};

// create, restart, disruption, success, failure, deadline, ttl, suspend, delete and scale of a job
// with three ranks; recreate, bounce and foreign, where names collide; single, completions,
// completions_held, completions_taken and queue, of jobs that run so many pods at once until enough
// have succeeded; those of ranks that wait for one ConfigMap, and of elastic ones; those of a
// master that is tried again and its workers; and those of a launcher that is paused.
const std::vector<Workload>& workloads();
// Those of them in which a launcher and its workers are paused.
std::vector<Workload> pause_workloads();
const Workload& workload(std::string_view name);

// One Scheduler and two Workers.
json::Value three_ranks();

}  // namespace muster::simulation
