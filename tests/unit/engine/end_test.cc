#include "engine/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"

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

struct CleanUpCase {
  CleanUp policy;
  std::vector<std::string> pods;
  bool service;
};

class CleanUpPolicy : public ::testing::TestWithParam<CleanUpCase> {};

TEST_P(CleanUpPolicy, DeletesWhatItSays) {
  const auto plan =
      JobBuilder().scheduler().workers(2).first_worker_decides().clean(GetParam().policy).build();
  Observed observed = begun();
  observed.objects = {service()};
  // MS-19: the service goes with the end although its pod is finished.
  observed.pods = {pod("Scheduler", 0, PodPhase::Succeeded, 0),
                   pod("Worker", 0, PodPhase::Succeeded, 0), pod("Worker", 1, PodPhase::Running)};
  const Decision ending = decide(plan, observed, kStart);
  EXPECT_EQ(deleted_pods(ending), GetParam().pods);
  EXPECT_EQ(actions<DeleteObject>(ending).size(), GetParam().service ? 1U : 0U);
  // The same again after a crash: the verdict stays, the clean-up is repeated.
  observed.ledger = ending.verdict.ledger;
  const Decision again = decide(plan, observed, kStart + 1h);
  EXPECT_EQ(deleted_pods(again), GetParam().pods);
  EXPECT_EQ(again.verdict, ending.verdict);
  EXPECT_FALSE(again.commit_first);
}

TEST(CleanUpRace, APodThatGoesBecauseItRunsGoesOnlyAsItWasSeen) {
  for (const CleanUp policy : {CleanUp::Running, CleanUp::All}) {
    const auto plan = JobBuilder().workers(2).first_worker_decides().clean(policy).build();
    Observed observed = begun();
    observed.pods = {pod("Worker", 0, PodPhase::Succeeded, 0), pod("Worker", 1, PodPhase::Running)};
    observed.pods[1].resource_version = "7";
    const auto gone = actions<DeletePod>(decide(plan, observed, kStart));
    EXPECT_EQ(gone.back().resource_version, policy == CleanUp::Running ? "7" : "");
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, CleanUpPolicy,
                         ::testing::Values(CleanUpCase{CleanUp::None, {}, false},
                                           CleanUpCase{CleanUp::Running, {"bert-worker-1"}, true},
                                           CleanUpCase{CleanUp::All,
                                                       {"bert-scheduler-0", "bert-worker-0",
                                                        "bert-worker-1"},
                                                       true}));

TEST(End, ATerminalVerdictIsFinalWhateverPodsDoLater) {
  const auto plan = JobBuilder().workers(1).first_worker_decides().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Succeeded, 0)};
  observed.ledger = decide(plan, observed, kStart).verdict.ledger;
  observed.pods = {pod("Worker", 0, PodPhase::Failed, 1)};
  const Decision later = decide(plan, observed, kStart + 1h);
  EXPECT_EQ(later.verdict.phase, Phase::Succeeded);
  EXPECT_EQ(later.verdict.ledger.completion_time, kStart);
  EXPECT_THAT(created_pods(later), IsEmpty());
}

TEST(End, MS9_TheJobIsDeletedWhenItsTimeAfterTheEndIsOver) {
  const auto plan =
      JobBuilder().workers(1).first_worker_decides().limits({.ttl_seconds = 30}).build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Succeeded, 0)};
  const Decision ending = decide(plan, observed, kStart);
  EXPECT_EQ(ending.wake_at, kStart + 30s);
  observed.ledger = ending.verdict.ledger;
  EXPECT_EQ(actions<DeleteJob>(decide(plan, observed, kStart + 29s)).size(), 0U);
  EXPECT_EQ(actions<DeleteJob>(decide(plan, observed, kStart + 30s)).size(), 1U);
}

TEST(End, NothingIsDoneForAJobThatIsBeingDeleted) {
  Observed observed = begun();
  observed.deleting = true;
  EXPECT_THAT(decide(JobBuilder().workers(3).build(), observed, kStart).wave, IsEmpty());
}

Refusal refusal(ErrorCode code, std::string message) {
  return {.kind = "Pod",
          .name = "bert-worker-0",
          .role = "Worker",
          .index = 0,
          .error = {.code = code, .message = std::move(message)}};
}

TEST(Refused, InvalidOrForbiddenFailsTheJobWithTheServersWords) {
  const auto plan = JobBuilder().workers(1).first_worker_decides().build();
  for (const auto code : {ErrorCode::Invalid, ErrorCode::Forbidden}) {
    Observed observed = begun();
    observed.refusals = {refusal(code, "no such luck")};
    const Decision decision = decide(plan, observed, kStart);
    EXPECT_EQ(decision.verdict.phase, Phase::Failed);
    EXPECT_EQ(decision.verdict.cause->text, "no such luck");
  }
}

TEST(Refused, QuotaIsWaitedFor) {
  const auto plan = JobBuilder().workers(1).first_worker_decides().build();
  Observed observed = begun();
  observed.refusals = {refusal(ErrorCode::Forbidden, "pods is forbidden: exceeded quota: small")};
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Created);
  EXPECT_THAT(decision.verdict.waiting_for, ::testing::HasSubstr("exceeded quota"));
  EXPECT_THAT(created_pods(decision), IsEmpty());
  EXPECT_TRUE(decision.wake_at);
}

TEST(Refused, AForeignObjectIsNeverAdopted) {
  const auto plan = JobBuilder().workers(1).first_worker_decides().build();
  Observed observed = begun();
  observed.refusals = {refusal(ErrorCode::AlreadyExists, "exists")};
  observed.refusals[0].foreign = true;
  Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Failed);
  EXPECT_THAT(decision.verdict.cause->text, ::testing::HasSubstr("bert-worker-0"));
  observed.refusals[0].terminating = true;
  decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Created);
  EXPECT_TRUE(decision.wake_at);
}

TEST(Frozen, ABadEditTouchesNothingButTheDeadlineHolds) {
  Observed observed = begun();
  observed.ledger.limits.deadline_seconds = 60;
  observed.ledger.phase = Phase::Running;
  observed.pods = {pod("Worker", 0, PodPhase::Running)};
  const auto job = JobBuilder().build().job;
  const Decision frozen = decide_frozen(job, observed, kStart);
  EXPECT_THAT(frozen.wave, IsEmpty());
  EXPECT_EQ(frozen.verdict.phase, Phase::Running);
  EXPECT_EQ(frozen.verdict.ledger.observed_generation, 1);
  EXPECT_EQ(frozen.wake_at, kStart + 60s);
  const Decision over = decide_frozen(job, observed, kStart + 60s);
  EXPECT_EQ(over.verdict.phase, Phase::Failed);
  EXPECT_THAT(deleted_pods(over), ElementsAre("bert-worker-0"));
}

TEST(Frozen, AnEndedJobWaitsForNothingButItsTimeToLive) {
  Observed observed = begun();
  observed.ledger.limits.ttl_seconds = 60;
  observed.ledger.phase = Phase::Failed;
  observed.ledger.completion_time = kStart;
  const auto job = JobBuilder().build().job;
  const Decision kept = decide_frozen(job, observed, kStart);
  EXPECT_EQ(kept.verdict.waiting_for, "");
  EXPECT_THAT(kept.wave, IsEmpty());
  EXPECT_EQ(kept.wake_at, kStart + 60s);
  EXPECT_EQ(decide_frozen(job, observed, kStart + 60s).wave.size(), 1U);
  observed.deleting = true;
  EXPECT_THAT(decide_frozen(job, observed, kStart + 60s).wave, IsEmpty());
}

TEST(Ledger, SurvivesTheRoundTripThroughTheStatus) {
  const auto plan = JobBuilder()
                        .workers(2)
                        .all_workers_decide()
                        .retry_on_exit_code()
                        .limits({.backoff = 9})
                        .build();
  Observed observed = begun();
  observed.ledger.attempts["Worker/1"] = 1;
  observed.pods = {pod("Worker", 0, PodPhase::Running), pod("Worker", 1, PodPhase::Failed, 137)};
  const auto ledger = decide(plan, observed, kStart + 123456789ns).verdict.ledger;
  EXPECT_EQ(plan::Ledger::from_json(ledger.to_json()), ledger);
}

}  // namespace
}  // namespace muster::engine
