#pragma once

#include <vector>

#include "cli/doctor/finding.h"
#include "cli/doctor/machine_facts.h"

namespace muster::cli {

// Whether jobs can run here, check by check.
std::vector<Finding> check_machine(const MachineFacts& facts);

}  // namespace muster::cli
