#include "engine/ending/deadline.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/decide.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using plan::CauseKind;
using plan::CleanUp;
using plan::Phase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

TEST(Deadline, MS9_ATimerIsSetAndTheJobFailsWhenItIsOver) {
  const auto plan =
      JobBuilder().workers(1).first_worker_decides().limits({.deadline_seconds = 60}).build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running)};
  EXPECT_EQ(decide(plan, observed, kStart).wake_at, kStart + 60s);
  const Decision decision = decide(plan, observed, kStart + 60s);
  EXPECT_EQ(decision.verdict.phase, Phase::Failed);
  EXPECT_EQ(decision.verdict.cause->kind, CauseKind::Deadline);
}

TEST(Deadline, MS10_RunningPodsStopAlsoWhenEverythingShouldStay) {
  const auto plan = JobBuilder()
                        .scheduler()
                        .workers(1)
                        .first_worker_decides()
                        .limits({.deadline_seconds = 60})
                        .clean(CleanUp::None)
                        .build();
  Observed observed = begun();
  observed.objects = {service()};
  observed.pods = {pod("Scheduler", 0, PodPhase::Succeeded, 0),
                   pod("Worker", 0, PodPhase::Running)};
  const Decision decision = decide(plan, observed, kStart + 61s);
  EXPECT_THAT(deleted_pods(decision), ElementsAre("bert-worker-0"));
  EXPECT_THAT(actions<DeleteObject>(decision), IsEmpty());
}

TEST(Deadline, WhatSucceededBeforeWeLookedDidNotOverrun) {
  const auto plan =
      JobBuilder().workers(1).first_worker_decides().limits({.deadline_seconds = 60}).build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Succeeded, 0)};
  EXPECT_EQ(decide(plan, observed, kStart + 1h).verdict.phase, Phase::Succeeded);
}

// Durations that no nanosecond count holds: they are far away, not long ago.
TEST(Deadline, AnEnormousLimitIsFarAway) {
  for (const std::int64_t huge :
       {std::int64_t{9'999'999'999}, std::numeric_limits<std::int64_t>::max()}) {
    const auto plan = JobBuilder()
                          .workers(1)
                          .first_worker_decides()
                          .limits({.deadline_seconds = huge, .ttl_seconds = huge})
                          .build();
    Observed observed = begun();
    observed.pods = {pod("Worker", 0, PodPhase::Running)};
    const Decision running = decide(plan, observed, kStart + 1h);
    EXPECT_EQ(running.verdict.phase, Phase::Running) << huge;
    EXPECT_GT(*running.wake_at, kStart + 24h * 365);
    observed.pods = {pod("Worker", 0, PodPhase::Succeeded, 0)};
    const Decision ended = decide(plan, observed, kStart + 1h);
    EXPECT_THAT(actions<DeleteJob>(ended), IsEmpty()) << huge;
  }
}

struct DueCase {
  std::string name;
  plan::Ledger ledger;
  std::optional<Time> deadline;
  std::optional<Time> expiry;
};

TEST(Due, IsCountedFromTheStartAndFromTheEnd) {
  const plan::Limits both{.deadline_seconds = 60, .ttl_seconds = 30};
  const std::vector<DueCase> cases = {
      {"no limits", {.start_time = kStart}, {}, {}},
      {"not begun", {.limits = both}, {}, {}},
      {"begun", {.start_time = kStart, .limits = both}, kStart + 60s, {}},
      {"suspended", {.start_time = kStart, .limits = both, .phase = Phase::Suspended}, {}, {}},
      {"ended",
       {.start_time = kStart,
        .completion_time = kStart + 5s,
        .limits = both,
        .phase = Phase::Failed},
       kStart + 60s,
       kStart + 35s},
  };
  for (const DueCase& c : cases) {
    EXPECT_EQ(deadline_of(c.ledger), c.deadline) << c.name;
    EXPECT_EQ(expiry_of(c.ledger), c.expiry) << c.name;
  }
}

}  // namespace
}  // namespace muster::engine
