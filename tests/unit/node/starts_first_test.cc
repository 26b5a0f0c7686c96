#include "unit/node/fixture.h"

namespace muster::node {
namespace {

class StartsFirstTest : public NodeTest {
 protected:
  // From now on something starts, for so long.
  void start_something(Duration takes) {
    runtime.sandbox_takes = takes;
    create(PodBuilder("starting").container("main", "serve"));
    loop.run_for(1ms);
  }
  // The uid of a pod that is over soon after something began to start, for so long.
  std::string end_while_something_starts(Duration takes) {
    start();
    const auto uid = create(ending("p"));
    loop.run_for(900ms);
    start_something(takes);
    return uid;
  }
  PodBuilder ending(const std::string& name, std::string_view more = "{}") {
    return PodBuilder(name).restart("Never").container("main", "run 1 0", more);
  }
  bool has_sandbox(const std::string& uid) { return runtime.pods.contains(uid); }
};

TEST_F(StartsFirstTest, ASandboxThatIsOverStaysUntilNothingStarts) {
  const auto uid = end_while_something_starts(1500ms);
  loop.run_for(1s);
  EXPECT_EQ(phase("p"), "Succeeded") << "its end is told at once";
  EXPECT_TRUE(has_sandbox(uid));
  loop.run_for(600ms);
  EXPECT_EQ(phase("starting"), "Running");
  EXPECT_FALSE(has_sandbox(uid));
}

// Ranks start one after the other, and some are over before the next one's turn comes.
TEST_F(StartsFirstTest, AMomentBetweenTwoStartsIsNotYetTheEndOfStarting) {
  const auto uid = end_while_something_starts(150ms);
  loop.run_for(170ms);
  EXPECT_EQ(phase("starting"), "Running");
  EXPECT_EQ(phase("p"), "Succeeded");
  EXPECT_TRUE(has_sandbox(uid));
  create(PodBuilder("next").container("main", "serve"));
  loop.run_for(100ms);
  EXPECT_TRUE(has_sandbox(uid));
  loop.run_for(200ms);
  EXPECT_EQ(phase("next"), "Running");
  EXPECT_FALSE(has_sandbox(uid));
}

TEST_F(StartsFirstTest, NotLongerThanTwoSeconds) {
  const auto uid = end_while_something_starts(60s);
  loop.run_for(1900ms);
  EXPECT_TRUE(has_sandbox(uid));
  loop.run_for(300ms);
  EXPECT_FALSE(has_sandbox(uid));
}

TEST_F(StartsFirstTest, NoMoreThanHalfOfTheNodesPlaces) {
  options.pods = 252;
  options.memory_bytes = std::int64_t{64} << 30U;
  start();
  for (int i = 0; i < 130; ++i) create(ending("p" + std::to_string(i)));
  loop.run_for(900ms);
  start_something(60s);
  loop.run_for(1s);
  EXPECT_EQ(runtime.pods.size(), 126U);
  loop.run_for(2s);
  EXPECT_TRUE(runtime.pods.empty());
}

TEST_F(StartsFirstTest, NoMoreThanASixtyFourthOfItsMemory) {
  options.pods = 252;
  options.memory_bytes = std::int64_t{2} << 30U;
  EXPECT_EQ(most_ended(options), 64U);
}

TEST_F(StartsFirstTest, GpusAreGivenBackAtOnce) {
  options.gpu_uuids = {"GPU-a"};
  start();
  const auto uid = create(ending("p", R"({"resources":{"limits":{"nvidia.com/gpu":1}}})"));
  loop.run_for(900ms);
  start_something(60s);
  loop.run_for(300ms);
  EXPECT_EQ(phase("p"), "Succeeded");
  EXPECT_FALSE(has_sandbox(uid));
}

TEST_F(StartsFirstTest, APodThatIsDeletedGoesAtOnce) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "serve"));
  loop.run_for(900ms);
  start_something(60s);
  cluster.request_deletion("default", "p", 30);
  loop.run_for(300ms);
  EXPECT_FALSE(has_sandbox(uid));
  EXPECT_EQ(phase("p"), "gone");
}

TEST_F(StartsFirstTest, WhoIsDeletedWhileItWaitsWaitsNoLonger) {
  const auto uid = end_while_something_starts(60s);
  loop.run_for(300ms);
  ASSERT_TRUE(has_sandbox(uid));
  cluster.request_deletion("default", "p", 30);
  loop.run_for(100ms);
  EXPECT_FALSE(has_sandbox(uid));
  EXPECT_EQ(phase("p"), "gone");
}

}  // namespace
}  // namespace muster::node
