#include "trainer/hyperparameters.h"

#include <fmt/core.h>

#include "trainer/bytes.h"

namespace muster::trainer {
namespace {

Result<void> check_range(std::string_view name, std::uint64_t value, std::uint64_t most) {
  if (value < 1 || value > most) {
    return usage_error(fmt::format("{} is {}; it must be 1 to {}", name, value, most));
  }
  return {};
}

}  // namespace

Result<void> check(const Hyperparameters& hyperparameters) {
  TRY(check_range("--epochs", hyperparameters.epochs, kMaxEpochs));
  TRY(check_range("--steps-per-epoch", hyperparameters.steps_per_epoch, kMaxTotalSteps));
  TRY(check_range("--epochs times --steps-per-epoch", hyperparameters.total_steps(),
                  kMaxTotalSteps));
  TRY(check_range("--batch", hyperparameters.batch, kMaxBatch));
  TRY(check_range("--hidden", hyperparameters.hidden, kMaxHidden));
  TRY(check_range("the number of ranks", hyperparameters.ranks, kMaxRanks));
  // Written so that NaN fails too.
  if (!(hyperparameters.learning_rate > 0 && hyperparameters.learning_rate <= kMaxLearningRate)) {
    return usage_error(fmt::format("--lr is {}; it must be greater than 0 and at most {}",
                                   hyperparameters.learning_rate, kMaxLearningRate));
  }
  return {};
}

void append(std::string& bytes, const Hyperparameters& hyperparameters) {
  append_number(bytes, hyperparameters.epochs);
  append_number(bytes, hyperparameters.steps_per_epoch);
  append_number(bytes, hyperparameters.batch);
  append_number(bytes, hyperparameters.hidden);
  append_number(bytes, hyperparameters.learning_rate);
  append_number(bytes, hyperparameters.seed);
  append_number(bytes, hyperparameters.ranks);
  append_number(bytes, std::uint64_t{hyperparameters.all_reduce});
}

Result<Hyperparameters> take_hyperparameters(std::string_view& bytes) {
  if (bytes.size() < kEncodedHyperparameters) {
    return failure("ends inside the hyper-parameters");
  }
  Hyperparameters hyperparameters;
  hyperparameters.epochs = take_number<std::uint64_t>(bytes);
  hyperparameters.steps_per_epoch = take_number<std::uint64_t>(bytes);
  hyperparameters.batch = take_number<std::uint64_t>(bytes);
  hyperparameters.hidden = take_number<std::uint64_t>(bytes);
  hyperparameters.learning_rate = take_number<double>(bytes);
  hyperparameters.seed = take_number<std::uint64_t>(bytes);
  hyperparameters.ranks = take_number<std::uint64_t>(bytes);
  hyperparameters.all_reduce = take_number<std::uint64_t>(bytes) != 0;
  TRY(check(hyperparameters));
  return hyperparameters;
}

std::uint64_t digest(const Hyperparameters& hyperparameters) {
  std::string bytes;
  append(bytes, hyperparameters);
  return checksum(bytes);
}

}  // namespace muster::trainer
