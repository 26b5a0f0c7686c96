// What happens around the controller, at every call that it makes: its clock is set, the user holds
// the job and lets it go, a node is lost.
#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "campaign.h"

namespace muster::simulation {
namespace {

using Kind = Fault::Kind;

// One of each way in which jobs are run; and all of them when there is time.
constexpr auto kUsually = std::to_array<std::string_view>(
    {"create", "restart", "success", "barrier", "completions", "master_workers", "launcher"});
// Whoever tells these holds the job himself, or counts on what the clock says.
constexpr auto kNever =
    std::to_array<std::string_view>({"suspend", "completions_held", "master_held", "pause",
                                     "pause_first", "pause_in_haste", "debug", "foreign"});
constexpr auto kTimed = std::to_array<std::string_view>({"deadline", "ttl", "master_retry"});

template <class Names>
bool has(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::string> chosen() {
  std::vector<std::string> names;
  for (const Workload& each : workloads()) {
    if (has(kNever, each.name)) continue;
    if (scale() > 1 || has(kUsually, each.name)) names.push_back(each.name);
  }
  return names;
}

class Disturbance : public ::testing::TestWithParam<std::string> {
 protected:
  void survive(Kind kind) {
    const Workload& story = workload(GetParam());
    const Tally tally = strike_everywhere(story, reference_, kind);
    EXPECT_GT(tally.found, 0U);
    for (std::size_t i = 0; i < tally.violations.size() && i < 3; ++i) {
      ADD_FAILURE() << tally.violations[i] << (i == 2 ? "\n…" : "");
    }
    fmt::print("{}: {} at {} calls of {}\n", story.name, to_string(kind), tally.run, tally.found);
  }

  RunResult reference_ = simulate(workload(GetParam()), {});
};

TEST_P(Disturbance, TheClockIsSetAtEveryCall) {
  survive(Kind::ClockForward);
  survive(Kind::ClockBack);
}

TEST_P(Disturbance, HeldAndLetGoAtEveryCall) {
  survive(Kind::HoldBriefly);
  survive(Kind::HoldLong);
}

TEST_P(Disturbance, ANodeIsLostAtEveryCall) {
  survive(Kind::NodeAway);
  survive(Kind::NodeEvicted);
  survive(Kind::NodeRemoved);
}

class TimedDisturbance : public Disturbance {};

TEST_P(TimedDisturbance, TheClockIsSetAtEveryCall) {
  survive(Kind::ClockForward);
  survive(Kind::ClockBack);
}

const auto kName = [](const auto& tested) { return tested.param; };
INSTANTIATE_TEST_SUITE_P(Workload, Disturbance, ::testing::ValuesIn(chosen()), kName);
INSTANTIATE_TEST_SUITE_P(Workload, TimedDisturbance,
                         ::testing::ValuesIn(std::vector<std::string>(kTimed.begin(),
                                                                      kTimed.end())),
                         kName);

}  // namespace
}  // namespace muster::simulation
