#include <algorithm>
#include <filesystem>
#include <optional>

#include "trainer/files.h"
#include "trainer/output.h"
#include "trainer/run.h"
#include "trainer/snapshot_store.h"
#include "trainer/training.h"

namespace muster::trainer {
namespace {

Result<Snapshot> resume(const std::optional<SnapshotStore>& store,
                        const Hyperparameters& hyperparameters) {
  if (store) {
    const SnapshotStore::Inventory inventory = store->restorable(hyperparameters);
    for (const std::string& reason : inventory.rejected) {
      note("ignored a checkpoint: {}", reason);
    }
    if (!inventory.steps.empty()) {
      say("resuming after step {}", inventory.steps.back());
      return store->load(inventory.steps.back());
    }
  }
  return initial_snapshot(hyperparameters);
}

}  // namespace

Result<void> run_alone(const TrainCommand& command) {
  const bool is_simulation = command.simulated_ranks != 0;
  Hyperparameters hyperparameters = command.hyperparameters;
  hyperparameters.ranks = std::max<std::uint64_t>(command.simulated_ranks, 1);

  std::optional<SnapshotStore> store;
  if (command.checkpoint_directory) {
    store = TRY(SnapshotStore::open(*command.checkpoint_directory,
                                    is_simulation ? "simulated" : "standalone"));
  }
  Snapshot state = TRY(resume(store, hyperparameters));
  Alone alone;
  TRY(train(state, alone,
            {.shards = {.first = 0, .count = hyperparameters.ranks},
             .log_every = command.log_every,
             .checkpoint_every = command.checkpoint_every,
             .store = store ? &*store : nullptr,
             .step_delay = command.step_delay}));
  if (store) {
    const auto path = is_simulation ? store->directory() / "final-simulated.params"
                                    : final_path(store->directory(), 0);
    TRY(write_atomically(path, encode(state)));
    store->forget_all();
    say("wrote {}", path.string());
  }
  return {};
}

}  // namespace muster::trainer
