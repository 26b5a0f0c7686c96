#include "controller/work_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rt/scope.h"
#include "rt/sim_loop.h"

namespace muster::controller {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WorkQueueTest : public ::testing::Test {
 protected:
  std::string take() { return loop_.run(queue_.next()).value_or("cancelled"); }
  // The keys that come within the time, each done at once.
  std::vector<std::string> within(Duration time) {
    std::vector<std::string> keys;
    rt::TaskScope scope(loop_);
    scope.spawn(collect(keys));
    loop_.run_for(time);
    loop_.run(scope.close());
    return keys;
  }

  rt::SimLoop loop_{Time{}};
  SeededRng rng_{1};
  WorkQueue queue_{loop_, rng_};

 private:
  Task<void> collect(std::vector<std::string>& keys) {
    while (true) {
      const auto key = co_await queue_.next();
      if (!key) co_return;
      keys.push_back(*key);
      queue_.done(*key);
    }
  }
};

TEST_F(WorkQueueTest, GivesKeysInTheOrderTheyCame) {
  for (const char* key : {"a", "b", "c"}) queue_.add(key);
  EXPECT_THAT(within(1s), ElementsAre("a", "b", "c"));
}

TEST_F(WorkQueueTest, AKeyStandsInItOnce) {
  for (const char* key : {"a", "b", "a", "a"}) queue_.add(key);
  EXPECT_THAT(within(1s), ElementsAre("a", "b"));
}

TEST_F(WorkQueueTest, ABusyKeyComesAgainBehindTheOthers) {
  queue_.add("a");
  queue_.add("b");
  EXPECT_EQ(take(), "a");
  queue_.add("a");
  EXPECT_EQ(queue_.size(), 1U);
  queue_.done("a");
  EXPECT_THAT(within(1s), ElementsAre("b", "a"));
}

TEST_F(WorkQueueTest, AKeyIsNeverWithTwoWorkers) {
  queue_.add("a");
  EXPECT_EQ(take(), "a");
  queue_.add("a");
  EXPECT_THAT(within(1min), ElementsAre());
  EXPECT_FALSE(queue_.idle());
}

TEST_F(WorkQueueTest, TheEarliestOfSeveralDelaysCounts) {
  queue_.add_after("a", 10s);
  queue_.add_after("a", 2s);
  queue_.add_after("a", 5s);
  EXPECT_THAT(within(1900ms), ElementsAre());
  EXPECT_THAT(within(200ms), ElementsAre("a"));
  EXPECT_THAT(within(1min), ElementsAre());
}

TEST_F(WorkQueueTest, APoisonKeyBacksOffAlone) {
  Duration waited{};
  for (int i = 0; i < 14; ++i) {
    queue_.add_failed("poison");
    const Monotonic before = loop_.monotonic();
    EXPECT_EQ(take(), "poison");
    queue_.done("poison");
    waited = loop_.monotonic() - before;
    queue_.add("healthy");
    EXPECT_EQ(take(), "healthy");  // at once, however long the other waits
    queue_.done("healthy");
  }
  EXPECT_GE(waited, 30s);
  EXPECT_LE(waited, 60s);
  queue_.succeeded("poison");
  queue_.add_failed("poison");
  EXPECT_THAT(within(50ms), ElementsAre("poison"));
}

TEST_F(WorkQueueTest, AStoppedWorkerGetsNothingMore) {
  std::stop_source stop;
  stop.request_stop();
  queue_.add("a");
  auto next = queue_.next().with_stop(stop.get_token());
  const auto key = loop_.run(std::move(next));
  ASSERT_FALSE(key.has_value());
  EXPECT_EQ(key.error().code, ErrorCode::Cancelled);
  EXPECT_EQ(queue_.size(), 1U);
}

TEST_F(WorkQueueTest, ItsFiguresSayWhatWaitsAndHowLong) {
  for (const char* key : {"a", "b", "c"}) queue_.add(key);
  loop_.run_for(2s);
  EXPECT_EQ(take(), "a");
  loop_.run_for(3s);
  std::string out;
  queue_.append_figures(out);
  for (const char* sample :
       {"workqueue_depth{name=\"muster\"} 2", "workqueue_adds_total{name=\"muster\"} 3",
        "workqueue_retries_total{name=\"muster\"} 0",
        "workqueue_longest_running_processor_seconds{name=\"muster\"} 3.000000",
        "muster_workqueue_oldest_seconds{name=\"muster\"} 5.000000",
        "workqueue_queue_duration_seconds_bucket{name=\"muster\",le=\"0.5\"} 0",
        "workqueue_queue_duration_seconds_bucket{name=\"muster\",le=\"2.5\"} 1"}) {
    EXPECT_THAT(out, HasSubstr(std::string("\n") + sample + "\n"));
  }
  queue_.add_failed("a");
  queue_.done("a");
  EXPECT_THAT(within(1s), ElementsAre("b", "c", "a"));
  out.clear();
  queue_.append_figures(out);
  EXPECT_THAT(out, HasSubstr("\nworkqueue_retries_total{name=\"muster\"} 1\n"));
  EXPECT_THAT(out, HasSubstr("\nmuster_workqueue_oldest_seconds{name=\"muster\"} 0.000000\n"));
}

}  // namespace
}  // namespace muster::controller
