#pragma once

#include <chrono>
#include <cstdint>

#include "trainer/error.h"
#include "trainer/group.h"
#include "trainer/snapshot.h"
#include "trainer/snapshot_store.h"

namespace muster::trainer {

// Which of the run's shards this process computes. A worker: its own. A single process that stands
// for n ranks: all.
struct Shards {
  std::uint64_t first = 0;
  std::uint64_t count = 1;
};

struct TrainingOptions {
  Shards shards;
  std::uint64_t log_every = 0;             // steps; 0: say nothing
  std::uint64_t checkpoint_every = 0;      // steps; 0: only the last one
  const SnapshotStore* store = nullptr;    // none: no checkpoints
  std::chrono::milliseconds step_delay{};  // makes a run last long enough to be disturbed
};

// Trains from wherever `state` is to the end of the run. On an error the state is that of the last
// whole step.
[[nodiscard]] Result<void> train(Snapshot& state, Group& group, const TrainingOptions& options);

}  // namespace muster::trainer
