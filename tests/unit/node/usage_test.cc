#include <gtest/gtest.h>

#include "node/agent/gpu_usage.h"
#include "node/agent/usage_meter.h"
#include "node/linux/usage.h"
#include "rt/sim_loop.h"

namespace muster::node {
namespace {

using namespace std::chrono_literals;

TEST(Usage, TicksOfAProcessAndOfItsEndedChildren) {
  const std::string stat =
      "42 (a ) b) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0 1 0 12345 1000 50 0 0";
  EXPECT_EQ(linux::ticks_in(stat), 127);
  EXPECT_EQ(linux::ticks_in("42 (a) S 1 2"), std::nullopt);
  EXPECT_EQ(linux::ticks_in(""), std::nullopt);
}

TEST(Usage, CountersByTheirWholeName) {
  const std::string text = "usage_usec_other 1\nusage_usec 1500\nsystem_usec 2\n";
  EXPECT_EQ(linux::counter_in(text, "usage_usec"), 1500);
  EXPECT_EQ(linux::counter_in(text, "usage"), std::nullopt);
}

TEST(Usage, NothingWithoutCgroups) {
  EXPECT_TRUE(linux::usage_of_pod({}, "uid").empty());
  EXPECT_TRUE(
      linux::usage_of_pod(
          {.version = linux::CgroupRoots::Version::V2, .memory = "/nothing", .cpu = "/nothing"},
          "uid")
          .empty());
}

TEST(Usage, GpusOfContainers) {
  const auto gpus = parse_gpu_usage("GPU-a, 97, 71000\nGPU-b, 3, 10\nGPU-c, [N/A], 5\nnonsense\n");
  EXPECT_EQ(gpus.size(), 2U);
  const auto used = usage_by_container(R"({"main":["GPU-a","GPU-b"],"side":["GPU-c"]})", gpus);
  EXPECT_EQ(used.size(), 1U);
  EXPECT_EQ(used.at("main"),
            (GpuUsage{.busy_milli = 1000, .memory_bytes = std::int64_t{71010} << 20U}));
  EXPECT_TRUE(usage_by_container("torn", gpus).empty());
}

// Containers whose counters grow with the clock: so many cores each.
class UsageMeterTest : public ::testing::Test {
 protected:
  rt::SimLoop loop_{Time{}};
  std::map<std::string, double> cores_;  // by pod uid; absent: it does not run
  int reads_ = 0;
  UsageMeter meter_{loop_, [this](std::string uid) { return read(std::move(uid)); }};

  Task<std::vector<linux::ContainerUsage>> read(std::string uid) {
    ++reads_;
    if (!cores_.contains(uid)) co_return std::vector<linux::ContainerUsage>();
    const auto spent = static_cast<double>(loop_.monotonic().since_start.count()) * cores_[uid];
    co_return std::vector<linux::ContainerUsage>{{.container = "main",
                                                  .cpu_time = Duration(static_cast<int64_t>(spent)),
                                                  .memory_bytes = 7}};
  }
  double cores_of(const std::string& uid) {
    const auto usage = loop_.run(meter_.measure({uid, "absent"}));
    EXPECT_FALSE(usage.contains("absent"));
    EXPECT_EQ(usage.at(uid).containers.at(0).memory_bytes, 7);
    window_ = usage.at(uid).window;
    return static_cast<double>(usage.at(uid).containers.at(0).cpu_nanocores) / 1e9;
  }
  void pass(Duration time) {
    const auto slept = loop_.run(rt::sleep_for(loop_, time));
    EXPECT_TRUE(slept);
  }
  Duration window_{};
};

TEST_F(UsageMeterTest, TheFirstQuestionTakesAMoment) {
  cores_["a"] = 1.5;
  pass(1h);
  EXPECT_NEAR(cores_of("a"), 1.5, 0.01);
  EXPECT_EQ(window_, 500ms);
}

TEST_F(UsageMeterTest, AnAbsentPodMakesNobodyWaitForEver) {
  cores_["a"] = 1;
  EXPECT_NEAR(cores_of("a"), 1, 0.01);
}

TEST_F(UsageMeterTest, LaterOnesCountFromOneToTheNext) {
  cores_["a"] = 0.25;
  EXPECT_NEAR(cores_of("a"), 0.25, 0.01);
  pass(2s);
  EXPECT_NEAR(cores_of("a"), 0.25, 0.01);
  EXPECT_GE(window_, 500ms);
  pass(1min);
  EXPECT_NEAR(cores_of("a"), 0.25, 0.01);
  EXPECT_EQ(window_, 500ms);  // the mean of a minute would not be what happens now
}

}  // namespace
}  // namespace muster::node
