#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/error.h"
#include "trainer/hyperparameters.h"

namespace muster::trainer {

// The whole state of a run after `step` steps: a checkpoint, or at the last step the result. It
// names no rank, so the snapshots of all ranks of a healthy run are equal byte for byte.
struct Snapshot {
  Hyperparameters hyperparameters;
  std::uint64_t step = 0;
  std::vector<double> losses;  // of every step so far, averaged over the ranks
  std::vector<double> parameters;
};

// The state before the first step.
[[nodiscard]] Snapshot initial_snapshot(const Hyperparameters& hyperparameters);

[[nodiscard]] std::string encode(const Snapshot& snapshot);

// Rejects whatever encode() did not write: cut short, damaged, of another version, or with sizes
// that do not fit.
[[nodiscard]] Result<Snapshot> decode_snapshot(std::string_view bytes);

}  // namespace muster::trainer
