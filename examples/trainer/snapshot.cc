#include "trainer/snapshot.h"

#include <fmt/core.h>

#include "trainer/bytes.h"
#include "trainer/model.h"

namespace muster::trainer {
namespace {

// Layout: magic, hyper-parameters, step, one loss a step, the parameters, checksum of all that
// precedes it. Both counts follow from the hyper-parameters and the step, so there are none to
// disagree with.
constexpr std::string_view kMagic = "muster-trainer snapshot 1\n";

std::size_t encoded_size(const Hyperparameters& hyperparameters, std::uint64_t step) {
  return kMagic.size() + kEncodedHyperparameters + sizeof(std::uint64_t) + step * sizeof(double) +
         Model::parameter_count(hyperparameters.hidden) * sizeof(double) + sizeof(std::uint64_t);
}

}  // namespace

Snapshot initial_snapshot(const Hyperparameters& hyperparameters) {
  const Model model(hyperparameters.hidden);
  return {.hyperparameters = hyperparameters,
          .step = 0,
          .losses = {},
          .parameters = model.initial_parameters(hyperparameters.seed)};
}

std::string encode(const Snapshot& snapshot) {
  std::string bytes;
  bytes.reserve(encoded_size(snapshot.hyperparameters, snapshot.step));
  bytes.append(kMagic);
  append(bytes, snapshot.hyperparameters);
  append_number(bytes, snapshot.step);
  append_numbers(bytes, snapshot.losses);
  append_numbers(bytes, snapshot.parameters);
  append_number(bytes, checksum(bytes));
  return bytes;
}

Result<Snapshot> decode_snapshot(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) {
    return failure("is not a snapshot of this version of muster-trainer");
  }
  const std::size_t whole_size = bytes.size();
  if (whole_size < kMagic.size() + kEncodedHyperparameters + 2 * sizeof(std::uint64_t)) {
    return failure("is cut short");
  }
  std::string_view tail = bytes.substr(whole_size - sizeof(std::uint64_t));
  bytes.remove_suffix(sizeof(std::uint64_t));
  if (checksum(bytes) != take_number<std::uint64_t>(tail)) {
    return failure("is damaged or cut short: its checksum does not match");
  }
  bytes.remove_prefix(kMagic.size());
  Snapshot snapshot;
  snapshot.hyperparameters = TRY(take_hyperparameters(bytes));
  snapshot.step = take_number<std::uint64_t>(bytes);
  if (snapshot.step > snapshot.hyperparameters.total_steps()) {
    return failure(fmt::format("says step {} of a run of {} steps", snapshot.step,
                               snapshot.hyperparameters.total_steps()));
  }
  const std::size_t expected = encoded_size(snapshot.hyperparameters, snapshot.step);
  if (whole_size != expected) {
    return failure(fmt::format("has {} bytes where {} are right", whole_size, expected));
  }
  snapshot.losses.resize(snapshot.step);
  take_numbers(bytes, snapshot.losses);
  snapshot.parameters.resize(Model::parameter_count(snapshot.hyperparameters.hidden));
  take_numbers(bytes, snapshot.parameters);
  return snapshot;
}

}  // namespace muster::trainer
