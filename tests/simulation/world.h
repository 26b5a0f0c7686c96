#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "controller/controller.h"
#include "fault.h"
#include "workload.h"

namespace muster::simulation {

using Decide = std::function<engine::Decision(const plan::Plan&, const engine::Observed&, Time)>;

// A bug planted in the controller, through its seams: the policy, or the way to the cluster. Each
// incarnation of the controller gets its own.
struct Mutant {
  std::string name;
  std::function<Decide()> decide;
  std::function<std::unique_ptr<cluster::Cluster>(cluster::Cluster&)> cluster;
};

// What a run was like.
struct RunResult {
  std::vector<std::string> violations;
  std::size_t calls = 0;
  std::size_t writes = 0;
  std::size_t events = 0;
  std::size_t relists = 0;      // of the kind listed most, from the fault to the last thing
  std::size_t early_calls = 0;  // before there was a job
  std::size_t steps = 0;        // of the loop
  std::vector<Fault> struck;    // the faults that happened
  Duration last_struck{};       // when
  Duration converged{};         // when the last thing happened
  std::string end_state;        // jobs and children, without times and identities
  std::string essence;          // the part that does not depend on what was seen in between
  std::vector<std::string> created;
  std::size_t deleted = 0;
  std::uint64_t hash = 0;
  std::vector<std::string> history;
};

struct RunOptions {
  std::vector<Fault> faults;
  std::uint64_t seed = 1;
  const Mutant* mutant = nullptr;
};

// One workload from an empty cluster until nothing has happened for eleven virtual minutes, longer
// than any resync. Deterministic: the same arguments give the same history.
RunResult simulate(const Workload& workload, const RunOptions& options);
// Several at once: the first job has its usual name, the others names that begin with it.
RunResult simulate(const std::vector<const Workload*>& workloads, const RunOptions& options);

}  // namespace muster::simulation
