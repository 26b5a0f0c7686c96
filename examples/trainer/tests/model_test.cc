#include "trainer/model.h"

#include <cmath>

#include <gtest/gtest.h>

namespace muster::trainer {
namespace {

Batch some_batch(std::uint64_t shard) {
  Batch batch;
  Dataset(7).read(shard, 0, 5, batch);
  return batch;
}

double loss_of(Model& model, const std::vector<double>& parameters, const Batch& batch) {
  std::vector<double> ignored(parameters.size());
  return model.add_gradient(parameters, batch, ignored);
}

TEST(ModelTest, GradientIsTheSlopeOfTheLoss) {
  constexpr std::size_t kHidden = 6;
  Model model(kHidden);
  std::vector<double> parameters = model.initial_parameters(3);
  const Batch batch = some_batch(0);
  std::vector<double> gradient(parameters.size());
  model.add_gradient(parameters, batch, gradient);

  constexpr double kStep = 1e-6;
  for (std::size_t index = 0; index < parameters.size(); ++index) {
    const double before = parameters[index];
    parameters[index] = before + kStep;
    const double above = loss_of(model, parameters, batch);
    parameters[index] = before - kStep;
    const double below = loss_of(model, parameters, batch);
    parameters[index] = before;
    ASSERT_NEAR(gradient[index], (above - below) / (2 * kStep), 1e-6) << "parameter " << index;
  }
}

TEST(ModelTest, GradientsOfTwoBatchesAddUp) {
  Model model(4);
  const std::vector<double> parameters = model.initial_parameters(3);
  std::vector<double> first(parameters.size()), second(parameters.size()), both(parameters.size());
  model.add_gradient(parameters, some_batch(0), first);
  model.add_gradient(parameters, some_batch(1), second);
  model.add_gradient(parameters, some_batch(0), both);
  model.add_gradient(parameters, some_batch(1), both);
  for (std::size_t index = 0; index < both.size(); ++index) {
    ASSERT_NEAR(both[index], first[index] + second[index], 1e-12);
  }
}

TEST(ModelTest, UntrainedLossIsNearThatOfGuessing) {
  Model model(32);
  const double loss = loss_of(model, model.initial_parameters(1), some_batch(0));
  EXPECT_GT(loss, 0.5 * std::log(kClasses));
  EXPECT_LT(loss, 2.0 * std::log(kClasses));
}

TEST(DatasetTest, ASampleDependsOnSeedShardAndIndexOnly) {
  Batch whole, part;
  Dataset(7).read(2, 0, 10, whole);
  Dataset(7).read(2, 6, 4, part);
  EXPECT_EQ(part.labels, std::vector(whole.labels.begin() + 6, whole.labels.end()));
  EXPECT_TRUE(std::ranges::equal(part.sample(0), whole.sample(6)));
}

TEST(DatasetTest, ShardsAndSeedsDiffer) {
  Batch base, other_shard, other_seed;
  Dataset(7).read(0, 0, 4, base);
  Dataset(7).read(1, 0, 4, other_shard);
  Dataset(8).read(0, 0, 4, other_seed);
  EXPECT_NE(base.features, other_shard.features);
  EXPECT_NE(base.features, other_seed.features);
}

}  // namespace
}  // namespace muster::trainer
