#include "trainer/verify.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "trainer/output.h"
#include "trainer/snapshot_store.h"
#include "trainer/training.h"

namespace muster::trainer {
namespace {

bool report(bool is_right, std::string_view text) {
  say("{}  {}", is_right ? "ok  " : "FAIL", text);
  return is_right;
}

Result<std::vector<Snapshot>> read_results(const VerifyCommand& command) {
  std::vector<Snapshot> results;
  results.reserve(command.ranks);
  for (std::uint64_t rank = 0; rank < command.ranks; ++rank) {
    results.push_back(TRY(read_snapshot(final_path(command.directory, rank))));
  }
  return results;
}

bool check_equal(const std::vector<Snapshot>& results) {
  const std::string first = encode(results.front());
  for (std::size_t rank = 1; rank < results.size(); ++rank) {
    if (encode(results[rank]) != first) {
      return report(
          false,
          fmt::format("rank {} ended with other results than rank 0: greatest difference of "
                      "parameters {:.3g}",
                      rank, greatest_difference(results[rank].parameters, results[0].parameters)));
    }
  }
  return report(
      true,
      fmt::format("{} ranks ended with equal results, byte for byte: {} parameters after step {}",
                  results.size(), results[0].parameters.size(), results[0].step));
}

// Every step once more, all shards in this process. Its sums run in the plain order of the ranks
// and not in the ring's, so it is a reference of its own, and the last digits may differ.
Result<bool> check_against_single_process(const Snapshot& result, const VerifyCommand& command) {
  Hyperparameters hyperparameters = result.hyperparameters;
  hyperparameters.all_reduce = true;
  hyperparameters.ranks = command.ranks;
  Snapshot reference = initial_snapshot(hyperparameters);
  Alone alone;
  TRY(train(reference, alone, {.shards = {.first = 0, .count = command.ranks}}));
  const double difference = greatest_difference(result.parameters, reference.parameters);
  const bool is_close = difference <= command.tolerance;
  return report(
      is_close,
      fmt::format(
          "a single process ends with {} parameters: greatest difference {:.3g}, tolerance {:g}",
          is_close ? "the same" : "other", difference, command.tolerance));
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool check_learning(const Snapshot& result) {
  const std::size_t tenth = std::max<std::size_t>(result.losses.size() / 10, 1);
  const std::span<const double> losses = result.losses;
  const double begin = mean(losses.first(tenth));
  const double end = mean(losses.last(tenth));
  const bool has_halved = end < begin / 2;
  return report(
      has_halved,
      fmt::format("loss {}: mean of the first {} steps {:.4f}, of the last {} {:.4f}",
                  has_halved ? "fell to less than half" : "did not fall to less than half", tenth,
                  begin, tenth, end));
}

}  // namespace

double greatest_difference(std::span<const double> left, std::span<const double> right) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (left.size() != right.size()) {
    return kInfinity;
  }
  double greatest = 0;
  for (std::size_t index = 0; index < left.size(); ++index) {
    const double difference = std::abs(left[index] - right[index]);
    // max() would skip what is not a number.
    greatest = std::isnan(difference) ? kInfinity : std::max(greatest, difference);
  }
  return greatest;
}

Result<bool> compare(const CompareCommand& command) {
  const Snapshot first = TRY(read_snapshot(command.first));
  const Snapshot second = TRY(read_snapshot(command.second));
  if (first.parameters.size() != second.parameters.size()) {
    return report(false, fmt::format("{} parameters against {}", first.parameters.size(),
                                     second.parameters.size()));
  }
  const double difference = greatest_difference(first.parameters, second.parameters);
  return report(difference <= command.tolerance,
                fmt::format("greatest difference of {} parameters {:.3g}, tolerance {:g}",
                            first.parameters.size(), difference, command.tolerance));
}

Result<bool> verify(const VerifyCommand& command) {
  const Result<std::vector<Snapshot>> results = read_results(command);
  if (!results) {
    return report(false, results.error().message);
  }
  const Snapshot& first = results->front();
  if (first.hyperparameters.ranks != command.ranks) {
    return report(false, fmt::format("the results are of a run with {} ranks, not {}",
                                     first.hyperparameters.ranks, command.ranks));
  }
  if (first.step != first.hyperparameters.total_steps()) {
    return report(false, fmt::format("the results are of step {}, not of the last one, {}",
                                     first.step, first.hyperparameters.total_steps()));
  }
  const bool are_equal = check_equal(*results);
  const bool is_reproduced = TRY(check_against_single_process(first, command));
  const bool has_learned = check_learning(first);
  return are_equal && is_reproduced && has_learned;
}

}  // namespace muster::trainer
