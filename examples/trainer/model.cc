#include "trainer/model.h"

#include <algorithm>
#include <cmath>

#include "trainer/random.h"

namespace muster::trainer {
namespace {

constexpr std::uint64_t kInitialPurpose = 2;

// target += factor * row, over the length of target. Nine tenths of all time are spent here, so it
// is plain enough for the compiler to vectorise, and exempt from instrumentation that would make
// every sanitised run a hundred times slower.
[[clang::no_sanitize("address", "undefined", "coverage")]]
void add_scaled(std::span<double> target, double factor, const double* row) {
  double* values = target.data();
  const std::size_t count = target.size();
  for (std::size_t index = 0; index < count; ++index) {
    values[index] += factor * row[index];
  }
}

}  // namespace

Model::Model(std::size_t hidden)
    : hidden_(hidden), activations_(hidden), activation_errors_(hidden), outputs_(kClasses) {}

std::size_t Model::parameter_count(std::size_t hidden) {
  return kFeatures * hidden + hidden + hidden * kClasses + kClasses;
}

std::vector<double> Model::initial_parameters(std::uint64_t seed) const {
  std::vector<double> parameters(parameter_count(hidden_), 0.0);
  const Layers<double> initial = layers(std::span<double>(parameters));
  RandomStream random(seed, kInitialPurpose, 0);
  // Variance 2/inputs keeps the scale of the activations through a rectified layer (He et al.,
  // 2015).
  const double into_hidden = std::sqrt(2.0 / static_cast<double>(kFeatures));
  const double into_output = std::sqrt(2.0 / static_cast<double>(hidden_));
  std::ranges::generate(initial.hidden_weights, [&] { return into_hidden * random.bell(); });
  std::ranges::generate(initial.output_weights, [&] { return into_output * random.bell(); });
  return parameters;
}

double Model::add_gradient(std::span<const double> parameters, const Batch& batch,
                           std::span<double> gradient) {
  const Layers<const double> weights = layers(parameters);
  const Layers<double> sums = layers(gradient);
  const double share = 1.0 / static_cast<double>(batch.size());
  double loss = 0;
  for (std::size_t index = 0; index < batch.size(); ++index) {
    forward(weights, batch.sample(index));
    loss += share * softmax(batch.labels[index]);
    // The gradient with respect to the outputs is (probability - truth), here for a share of the
    // batch.
    outputs_[batch.labels[index]] -= 1.0;
    std::ranges::for_each(outputs_, [&](double& output) { output *= share; });
    backward(weights, batch.sample(index), sums);
  }
  return loss;
}

template <class Number>
Model::Layers<Number> Model::layers(std::span<Number> parameters) const {
  Layers<Number> result;
  const auto take = [&](std::size_t count) {
    const auto taken = parameters.first(count);
    parameters = parameters.subspan(count);
    return taken;
  };
  result.hidden_weights = take(kFeatures * hidden_);
  result.hidden_biases = take(hidden_);
  result.output_weights = take(hidden_ * kClasses);
  result.output_biases = take(kClasses);
  return result;
}

void Model::forward(const Layers<const double>& weights,
                    std::span<const double, kFeatures> sample) {
  std::ranges::copy(weights.hidden_biases, activations_.begin());
  for (std::size_t feature = 0; feature < kFeatures; ++feature) {
    add_scaled(activations_, sample[feature], &weights.hidden_weights[feature * hidden_]);
  }
  std::ranges::for_each(activations_, [](double& value) { value = std::max(value, 0.0); });
  std::ranges::copy(weights.output_biases, outputs_.begin());
  for (std::size_t unit = 0; unit < hidden_; ++unit) {
    add_scaled(outputs_, activations_[unit], &weights.output_weights[unit * kClasses]);
  }
}

double Model::softmax(std::size_t label) {
  // Subtracting the maximum changes nothing but keeps exp() from overflowing.
  const double most = std::ranges::max(outputs_);
  const double true_output = outputs_[label] - most;
  double sum = 0;
  for (double& output : outputs_) {
    output = std::exp(output - most);
    sum += output;
  }
  std::ranges::for_each(outputs_, [&](double& output) { output /= sum; });
  return std::log(sum) - true_output;
}

void Model::backward(const Layers<const double>& weights, std::span<const double, kFeatures> sample,
                     const Layers<double>& gradient) {
  for (std::size_t unit = 0; unit < hidden_; ++unit) {
    const double* outgoing = &weights.output_weights[unit * kClasses];
    double error = 0;
    for (std::size_t output = 0; output < kClasses; ++output) {
      error += outgoing[output] * outputs_[output];
    }
    activation_errors_[unit] = activations_[unit] > 0 ? error : 0.0;
    add_scaled(gradient.output_weights.subspan(unit * kClasses, kClasses), activations_[unit],
               outputs_.data());
  }
  add_scaled(gradient.output_biases, 1.0, outputs_.data());
  add_scaled(gradient.hidden_biases, 1.0, activation_errors_.data());
  for (std::size_t feature = 0; feature < kFeatures; ++feature) {
    add_scaled(gradient.hidden_weights.subspan(feature * hidden_, hidden_), sample[feature],
               activation_errors_.data());
  }
}

}  // namespace muster::trainer
