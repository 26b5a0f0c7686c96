#pragma once

#include <string>
#include <vector>

#include "fault.h"
#include "world.h"

namespace muster::simulation {

// A planted bug, and where a campaign is to find it.
struct Specimen {
  Mutant mutant;
  std::string workload;
  Fault::Kind fault = Fault::Kind::None;
  std::string invariant;  // the promise that it breaks, as the violation names it
  std::string beside;     // another workload at the same time; none where a fault is
};

// Named after the zoo of reliability.md §6.
std::vector<Specimen> zoo();

}  // namespace muster::simulation
