#include "trainer/training.h"

#include <algorithm>
#include <span>
#include <vector>

#include "trainer/data.h"
#include "trainer/model.h"
#include "trainer/output.h"

namespace muster::trainer {
namespace {

// Computes this process's part of a step: the gradients of its shards, added up in the order of the
// ranks.
class GradientSource {
 public:
  GradientSource(const Hyperparameters& hyperparameters, Shards shards)
      : hyperparameters_(hyperparameters),
        shards_(shards),
        dataset_(hyperparameters.seed),
        model_(hyperparameters.hidden) {}

  // Fills `sums` with the gradient, and the loss behind it: so one all-reduce takes care of both.
  void compute(std::uint64_t step, std::span<const double> parameters, std::span<double> sums) {
    std::ranges::fill(sums, 0.0);
    const std::span<double> gradient = sums.first(parameters.size());
    double& loss = sums.back();
    const std::uint64_t step_in_epoch = step % hyperparameters_.steps_per_epoch;
    for (std::uint64_t index = 0; index < shards_.count; ++index) {
      dataset_.read(shards_.first + index, step_in_epoch * hyperparameters_.batch,
                    hyperparameters_.batch, batch_);
      loss += model_.add_gradient(parameters, batch_, gradient);
    }
  }

 private:
  const Hyperparameters& hyperparameters_;
  Shards shards_;
  Dataset dataset_;
  Model model_;
  Batch batch_;
};

// One step of gradient descent with the sums of `contributors` ranks.
void apply(std::span<const double> sums, std::uint64_t contributors, Snapshot& state) {
  const double share = 1.0 / static_cast<double>(contributors);
  const double rate = state.hyperparameters.learning_rate * share;
  for (std::size_t index = 0; index < state.parameters.size(); ++index) {
    state.parameters[index] -= rate * sums[index];
  }
  state.losses.push_back(sums.back() * share);
  ++state.step;
}

// The words are MindSpore's own (LossMonitor), for whatever reads such logs.
void report(const Snapshot& state, std::uint64_t log_every) {
  if (log_every != 0 && state.step % log_every == 0) {
    const std::uint64_t steps_per_epoch = state.hyperparameters.steps_per_epoch;
    say("epoch: {} step: {}, loss is {:.4f}", (state.step - 1) / steps_per_epoch + 1,
        (state.step - 1) % steps_per_epoch + 1, state.losses.back());
  }
}

bool is_checkpoint_due(const Snapshot& state, std::uint64_t checkpoint_every) {
  return state.step == state.hyperparameters.total_steps() ||
         (checkpoint_every != 0 && state.step % checkpoint_every == 0);
}

}  // namespace

Result<void> train(Snapshot& state, Group& group, const TrainingOptions& options) {
  const Hyperparameters& hyperparameters = state.hyperparameters;
  GradientSource source(hyperparameters, options.shards);
  std::vector<double> sums(state.parameters.size() + 1);
  while (state.step < hyperparameters.total_steps()) {
    source.compute(state.step, state.parameters, sums);
    if (hyperparameters.all_reduce) {
      TRY(group.sum(state.step, sums));
    }
    apply(sums, hyperparameters.all_reduce ? hyperparameters.ranks : options.shards.count, state);
    report(state, options.log_every);
    if (options.store != nullptr && is_checkpoint_due(state, options.checkpoint_every)) {
      TRY(options.store->save(state));
    }
    if (options.step_delay.count() > 0) {
      TRY(group.pause(options.step_delay));
    }
  }
  return {};
}

}  // namespace muster::trainer
