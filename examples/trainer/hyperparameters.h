#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trainer/error.h"

namespace muster::trainer {

// Everything that decides the outcome of a run. Two runs with equal hyper-parameters end with equal
// parameters, so a checkpoint may be resumed, and a result compared, exactly when these agree.
struct Hyperparameters {
  std::uint64_t epochs = 5;
  std::uint64_t steps_per_epoch = 400;
  std::uint64_t batch = 64;  // samples per rank and step
  std::uint64_t hidden = 128;
  double learning_rate = 0.05;
  std::uint64_t seed = 1;
  std::uint64_t ranks = 1;
  bool all_reduce = true;

  [[nodiscard]] std::uint64_t total_steps() const { return epochs * steps_per_epoch; }

  friend bool operator==(const Hyperparameters&, const Hyperparameters&) = default;
};

inline constexpr std::uint64_t kMaxEpochs = 100'000;
inline constexpr std::uint64_t kMaxBatch = 4'096;
inline constexpr std::uint64_t kMaxHidden = 4'096;
inline constexpr std::uint64_t kMaxRanks = 1'024;
inline constexpr double kMaxLearningRate = 100.0;
// The loss of every step is kept in each checkpoint: a million of them are 8 MB.
inline constexpr std::uint64_t kMaxTotalSteps = 1'000'000;

// Whether every value lies within its limit; the error names the one that does not.
[[nodiscard]] Result<void> check(const Hyperparameters& hyperparameters);

inline constexpr std::size_t kEncodedHyperparameters = 8 * sizeof(std::uint64_t);

void append(std::string& bytes, const Hyperparameters& hyperparameters);

// Takes kEncodedHyperparameters bytes off the front of `bytes`, and checks what they say.
[[nodiscard]] Result<Hyperparameters> take_hyperparameters(std::string_view& bytes);

// Equal for equal hyper-parameters; what workers compare at the rendezvous.
[[nodiscard]] std::uint64_t digest(const Hyperparameters& hyperparameters);

}  // namespace muster::trainer
