#include "trainer/training.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "trainer/tests/loses_peer.h"
#include "trainer/verify.h"

namespace muster::trainer {
namespace {

const Hyperparameters kRun{.epochs = 2,
                           .steps_per_epoch = 40,
                           .batch = 16,
                           .hidden = 16,
                           .learning_rate = 0.1,
                           .seed = 5,
                           .ranks = 3};

Snapshot trained(const Hyperparameters& run, Shards shards) {
  Snapshot state = initial_snapshot(run);
  Alone alone;
  EXPECT_TRUE(train(state, alone, {.shards = shards}));
  return state;
}

TEST(TrainingTest, LearnsAndRecordsEveryLoss) {
  const Snapshot state = trained(kRun, {0, 3});
  EXPECT_EQ(state.step, 80u);
  ASSERT_EQ(state.losses.size(), 80u);
  EXPECT_LT(state.losses.back(), state.losses.front() / 2);
}

TEST(TrainingTest, SameInputSameBytes) {
  EXPECT_EQ(encode(trained(kRun, {0, 3})), encode(trained(kRun, {0, 3})));
}

TEST(TrainingTest, AResumedRunEndsWithTheSameBytes) {
  Snapshot state = initial_snapshot(kRun);
  LosesPeer group(33);
  const auto result = train(state, group, {.shards = {0, 3}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().exit_code, ExitCode::PeerLost);
  EXPECT_EQ(state.step, 33u);

  Snapshot resumed = decode_snapshot(encode(state)).value();
  Alone alone;
  ASSERT_TRUE(train(resumed, alone, {.shards = {0, 3}}));
  EXPECT_EQ(encode(resumed), encode(trained(kRun, {0, 3})));
}

TEST(TrainingTest, WithoutAllReduceRanksDrift) {
  Hyperparameters run = kRun;
  run.all_reduce = false;
  EXPECT_GT(greatest_difference(trained(run, {0, 1}).parameters, trained(run, {1, 1}).parameters),
            1e-2);
}

TEST(GreatestDifferenceTest, FindsWhatMaxWouldMiss) {
  const std::vector<double> base = {1.0, 2.0, 3.0};
  EXPECT_EQ(greatest_difference(base, base), 0.0);
  EXPECT_EQ(greatest_difference(base, std::vector{1.0, 2.5, 3.25}), 0.5);
  EXPECT_TRUE(std::isinf(greatest_difference(base, std::vector{1.0, 2.0})));
  EXPECT_TRUE(std::isinf(
      greatest_difference(base, std::vector{std::numeric_limits<double>::quiet_NaN(), 2.0, 3.0})));
}

}  // namespace
}  // namespace muster::trainer
