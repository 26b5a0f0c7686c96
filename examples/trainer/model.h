#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trainer/data.h"

namespace muster::trainer {

// A classifier with one hidden layer: kFeatures inputs, `hidden` rectified units, kClasses outputs,
// cross-entropy loss. All its parameters lie in one flat vector, which is what the ring sums and
// what a checkpoint holds: weights into the hidden layer (kFeatures rows), its biases, weights out
// of it (`hidden` rows), the output's biases.
class Model {
 public:
  explicit Model(std::size_t hidden);

  [[nodiscard]] static std::size_t parameter_count(std::size_t hidden);
  [[nodiscard]] std::vector<double> initial_parameters(std::uint64_t seed) const;

  // Adds the gradient of the batch's mean loss to `gradient`, and returns that loss.
  double add_gradient(std::span<const double> parameters, const Batch& batch,
                      std::span<double> gradient);

 private:
  template <class Number>
  struct Layers {
    std::span<Number> hidden_weights, hidden_biases, output_weights, output_biases;
  };
  template <class Number>
  [[nodiscard]] Layers<Number> layers(std::span<Number> parameters) const;

  void forward(const Layers<const double>& weights, std::span<const double, kFeatures> sample);
  // Turns outputs_ into probabilities, and returns the loss for the true class.
  double softmax(std::size_t label);
  void backward(const Layers<const double>& weights, std::span<const double, kFeatures> sample,
                const Layers<double>& gradient);

  std::size_t hidden_;
  // Of the sample at hand. Kept so that a step allocates nothing.
  std::vector<double> activations_;
  std::vector<double> activation_errors_;
  std::vector<double> outputs_;
};

}  // namespace muster::trainer
