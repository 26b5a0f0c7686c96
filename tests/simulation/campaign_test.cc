#include "campaign.h"

#include <cstdio>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/strings.h"

namespace muster::simulation {
namespace {

using Kind = Fault::Kind;

class Campaign : public ::testing::TestWithParam<std::string> {
 protected:
  const Workload& story() { return workload(GetParam()); }

  // A fault of this kind at every place: all promises hold, and no place was left out.
  std::size_t survive(Kind kind) {
    const Tally tally = strike_everywhere(story(), reference_, kind);
    EXPECT_EQ(tally.found, tally.run) << to_string(kind);
    EXPECT_GT(tally.found, 0U);
    for (std::size_t i = 0; i < tally.violations.size() && i < 3; ++i) {
      ADD_FAILURE() << tally.violations[i] << (i == 2 ? "\n…" : "");
    }
    return tally.run;
  }

  RunResult reference_ = simulate(story(), {});
};

TEST_P(Campaign, WithoutFaultsEveryPromiseHolds) {
  EXPECT_EQ(join(reference_.violations, "\n"), "");
}

TEST_P(Campaign, SameSeedSameRun) {
  EXPECT_EQ(reference_.hash, simulate(story(), {}).hash);
  const RunOptions crash{.faults = {{.kind = Kind::CrashAfter, .at = 12}}};
  EXPECT_EQ(simulate(story(), crash).hash, simulate(story(), crash).hash);
  EXPECT_NE(reference_.hash, simulate(story(), {.seed = 2}).hash);
}

TEST_P(Campaign, OtherSeedsEndTheSame) {
  for (std::uint64_t seed = 2; seed <= 10; ++seed) {
    const RunResult run = simulate(story(), {.seed = seed});
    EXPECT_EQ(join(run.violations, "\n"), "") << "seed " << seed;
    EXPECT_EQ(difference(run.essence, reference_.essence), "") << "seed " << seed;
  }
}

TEST_P(Campaign, CrashBeforeAndAfterEveryCall) {
  const std::size_t before = survive(Kind::CrashBefore);
  const std::size_t after = survive(Kind::CrashAfter);
  fmt::print("{}: calls found {}, crash points run {} (before {}, after {})\n", story().name,
             reference_.calls, before + after, before, after);
  EXPECT_EQ(before + after, 2 * reference_.calls);
}

TEST_P(Campaign, EveryEventLostRepeatedAndLate) {
  const std::size_t run =
      survive(Kind::DropEvent) + survive(Kind::RepeatEvent) + survive(Kind::DelayEvent);
  fmt::print("{}: events found {} × 3, run {}\n", story().name, reference_.events, run);
  EXPECT_EQ(run, 3 * reference_.events);
}

class FullCampaign : public Campaign {};

TEST_P(FullCampaign, EveryWatchCutAndExpired) {
  const std::size_t run = survive(Kind::CutWatch) + survive(Kind::ExpireWatch);
  fmt::print("{}: watch positions {} × 2, run {}\n", story().name, reference_.events, run);
}

TEST_P(FullCampaign, EveryWriteRefusedOrUnanswered) {
  std::size_t run = 0;
  for (const Kind kind : {Kind::Conflict, Kind::TooManyRequests, Kind::ServerError,
                          Kind::TimeoutBefore, Kind::TimeoutAfter}) {
    run += survive(kind);
  }
  fmt::print("{}: writes found {} × 5, run {}\n", story().name, reference_.writes, run);
  EXPECT_EQ(run, 5 * reference_.writes);
}

std::vector<std::string> names(bool only_full) {
  std::vector<std::string> all;
  for (const Workload& each : workloads()) {
    if (each.full || !only_full) all.push_back(each.name);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Workload, Campaign, ::testing::ValuesIn(names(false)),
                         [](const auto& tested) { return tested.param; });
INSTANTIATE_TEST_SUITE_P(Workload, FullCampaign, ::testing::ValuesIn(names(true)),
                         [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace muster::simulation
