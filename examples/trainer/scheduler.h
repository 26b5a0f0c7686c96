#pragma once

#include <cstdint>

#include "trainer/error.h"

namespace muster::trainer {

struct SchedulerOptions {
  std::uint16_t port = 0;  // 0: any free one, named on stdout
  std::uint64_t workers = 1;
};

// Serves the rendezvous until all workers are done. It waits for them without limit: workers that
// cannot form a topology give up by themselves, and a scheduler that was replaced in mid-training
// has nobody to wait for and is cleaned up with the job.
[[nodiscard]] Result<void> run_scheduler(const SchedulerOptions& options);

}  // namespace muster::trainer
