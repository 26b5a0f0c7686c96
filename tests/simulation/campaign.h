#pragma once

#include <string>
#include <vector>

#include "fault.h"
#include "world.h"

namespace muster::simulation {

// What faults may change. The end is always the same; how it was reached and how long it took
// depends on what was hidden from the controller, and for how long.
struct Tolerance {
  // Phase: whoever suspends a job or loses a node changes what is made and counted, but not how it
  // ends.
  enum class Compare { Everything, Essence, Phase };
  Compare compare = Compare::Everything;
  Duration slack{};
  std::size_t relists = 0;
  bool anew = false;  // the run may begin once more
};
Tolerance tolerance(const Workload& workload, const std::vector<Fault>& faults);

// How often a fault of that kind can strike in a run like the reference: once per call, write or
// event; disturbances once per call that is made when there is a job.
std::size_t places(Fault::Kind kind, const RunResult& reference);

// What a run broke: its own violations, and where it differs from the run without faults (O1).
std::vector<std::string> judge(const Workload& workload, const RunResult& reference,
                               const RunResult& run, const std::vector<Fault>& faults);

// Where two texts part, with what stands there; empty when they are equal.
std::string difference(const std::string& got, const std::string& wanted);

struct Tally {
  std::size_t found = 0;                // places
  std::size_t run = 0;                  // runs in which the fault did strike
  std::vector<std::string> violations;  // each with the fault that shows it
};

// Every place, once each; with a mutant, until one run breaks the promise that it is known to
// break.
struct Hunt {
  const Mutant* mutant = nullptr;
  std::string invariant;
};
Tally strike_everywhere(const Workload& workload, const RunResult& reference, Fault::Kind kind,
                        const Hunt& hunt = {});

// A fault of that kind at the place of that number, from 1.
Fault fault_at(Fault::Kind kind, std::size_t place, const RunResult& reference);

// How many times the usual number of sampled runs is wanted: MUSTER_SIMULATION.
std::size_t scale();

// Whether one of the violations is of that promise.
bool breaks(const std::vector<std::string>& violations, const std::string& invariant);

}  // namespace muster::simulation
