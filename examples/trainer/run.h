#pragma once

#include "trainer/command_line.h"
#include "trainer/environment.h"
#include "trainer/error.h"

namespace muster::trainer {

// One rank of a job: rendezvous, ring, training, result. Returns when all ranks are done.
[[nodiscard]] Result<void> run_worker(const TrainCommand& command, const Environment& environment);

// The whole run in this process, for one rank or in place of several.
[[nodiscard]] Result<void> run_alone(const TrainCommand& command);

}  // namespace muster::trainer
