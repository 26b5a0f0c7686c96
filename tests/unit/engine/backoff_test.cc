#include "engine/backoff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/decide.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using plan::CauseKind;
using plan::Phase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

// backoffLimit as for a batch/v1 Job: so many restarts may be, however they came about.
struct LimitCase {
  std::string name;
  std::int64_t limit;
  std::int64_t before;  // restarts of earlier tries
  PodView pod;
  bool over;
};

PodView in_place(PodView view, std::int64_t restarts) {
  view.containers[0].restarts = restarts;
  view.containers[0].last_exit_code = 3;
  return view;
}

PodView crash_looping(std::int64_t restarts) {
  PodView view = in_place(pod("Worker", 0, PodPhase::Running), restarts);
  view.containers[0].running = false;
  view.containers[0].reason = "CrashLoopBackOff";
  return view;
}

PodView ended_in_place(int code, std::int64_t restarts) {
  PodView view = in_place(pod("Worker", 0, PodPhase::Running, code), restarts);
  view.containers[0].running = false;
  return view;
}

class InPlace : public ::testing::TestWithParam<LimitCase> {};

TEST_P(InPlace, RestartsEndTheJobWhenTheyWouldGoAboveTheLimit) {
  const LimitCase& c = GetParam();
  const auto plan = JobBuilder()
                        .workers(1)
                        .first_worker_decides()
                        .restart_in_place()
                        .limits({.backoff = c.limit})
                        .build();
  Observed observed = begun();
  observed.ledger.roles["Worker"].retired = c.before;
  observed.pods = {c.pod};
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, c.over ? Phase::Failed : Phase::Running) << c.name;
  if (!c.over) return;
  EXPECT_EQ(decision.verdict.cause->kind, CauseKind::BackoffLimit);
  EXPECT_EQ(decision.verdict.cause->pod, "bert-worker-0");
  EXPECT_EQ(decision.verdict.cause->exit_code, 3) << "how its last life ended";
  EXPECT_EQ(decision.verdict.counts.at("Worker").failed, 1) << "it is not going to be tried again";
  EXPECT_EQ(decision.verdict.counts.at("Worker").active, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Table, InPlace,
    ::testing::Values(
        LimitCase{"no restart", 0, 0, pod("Worker", 0, PodPhase::Running), false},
        LimitCase{"zero means none", 0, 0, in_place(pod("Worker", 0, PodPhase::Running), 1), true},
        LimitCase{"exactly as many", 3, 0, in_place(pod("Worker", 0, PodPhase::Running), 3), false},
        LimitCase{"one above", 3, 0, in_place(pod("Worker", 0, PodPhase::Running), 4), true},
        LimitCase{"earlier ones count", 3, 2, in_place(pod("Worker", 0, PodPhase::Running), 2),
                  true},
        LimitCase{"the next would be one above", 3, 0, crash_looping(3), true},
        LimitCase{"the next is still allowed", 3, 0, crash_looping(2), false},
        LimitCase{"it just ended and would be restarted", 0, 0, ended_in_place(3, 0), true},
        LimitCase{"it ended well and is not restarted", 0, 0, ended_in_place(0, 0), false}));

class Recreated : public ::testing::TestWithParam<LimitCase> {};

TEST_P(Recreated, PodsCountAgainstTheSameLimit) {
  const LimitCase& c = GetParam();
  const auto plan = JobBuilder()
                        .workers(1)
                        .first_worker_decides()
                        .retry_on_exit_code()
                        .limits({.backoff = c.limit})
                        .build();
  Observed observed = begun();
  if (c.before > 0) observed.ledger.roles["Worker"].attempts[0] = c.before;
  observed.pods = {attempt(c.pod, c.before)};
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, c.over ? Phase::Failed : Phase::Restarting) << c.name;
  if (!c.over) return;
  EXPECT_EQ(decision.verdict.cause->kind, CauseKind::BackoffLimit);
  EXPECT_EQ(decision.verdict.counts.at("Worker").failed, 1);
  EXPECT_EQ(decision.verdict.counts.at("Worker").pending, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Recreated,
    ::testing::Values(
        LimitCase{"zero means none", 0, 0, pod("Worker", 0, PodPhase::Failed, 137), true},
        LimitCase{"MS-11: the second of two", 2, 1, pod("Worker", 0, PodPhase::Failed, 137), false},
        LimitCase{"MS-11: the third of two", 2, 2, pod("Worker", 0, PodPhase::Failed, 137), true},
        LimitCase{"a disruption is not counted", 0, 0, disrupted("Worker", 0, 137), false}));

TEST(Backoff, EarlierDisruptionsAreNotCounted) {
  const auto plan = JobBuilder()
                        .workers(1)
                        .first_worker_decides()
                        .retry_on_exit_code()
                        .limits({.backoff = 1})
                        .build();
  Observed observed = begun();
  observed.ledger.roles["Worker"].attempts[0] = 5;
  observed.ledger.roles["Worker"].disruptions = 5;
  observed.pods = {attempt(pod("Worker", 0, PodPhase::Failed, 137), 5)};
  EXPECT_EQ(decide(plan, observed, kStart).verdict.phase, Phase::Restarting);
  observed.ledger.roles["Worker"].disruptions = 4;
  EXPECT_EQ(decide(plan, observed, kStart).verdict.phase, Phase::Failed);
}

TEST(Backoff, ALimitDoesNotFailAJobWhoseRanksAreNeverRestarted) {
  auto plan = JobBuilder().workers(2).all_workers_decide().limits({.backoff = 0}).build();
  plan.failure.clear();  // one Worker may fail
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), pod("Worker", 1, PodPhase::Failed, 1)};
  EXPECT_EQ(decide(plan, observed, kStart).verdict.phase, Phase::Running);
}

TEST(Backoff, RestartSumsNeverFall) {
  const auto plan = JobBuilder().workers(2).all_workers_decide().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), pod("Worker", 1, PodPhase::Running)};
  observed.pods[1].containers[0].restarts = 4;
  Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.counts.at("Worker").restarts, 4);
  observed.ledger = decision.verdict.ledger;
  observed.pods.pop_back();  // deleted by hand
  decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.counts.at("Worker").restarts, 4);
  observed.ledger = decision.verdict.ledger;
  observed.pods.push_back(pod("Worker", 1, PodPhase::Running));
  observed.pods[1].containers[0].restarts = 1;
  EXPECT_EQ(decide(plan, observed, kStart).verdict.counts.at("Worker").restarts, 5);
}

}  // namespace
}  // namespace muster::engine
