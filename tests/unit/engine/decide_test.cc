#include "engine/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using plan::Phase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

TEST(Create, TheFirstDecisionCreatesAtOnce) {
  const auto plan = JobBuilder().workers(2).first_worker_decides().build();
  const Decision decision = decide(plan, {}, kStart);
  EXPECT_FALSE(decision.commit_first);
  EXPECT_EQ(decision.verdict.ledger.start_time, kStart);
  EXPECT_THAT(created_pods(decision), ElementsAre("bert-worker-0", "bert-worker-1"));
}

TEST(Create, AStartThatIsNotStoredYetIsTheFirstLook) {
  const auto plan = JobBuilder().workers(2).first_worker_decides().build();
  EXPECT_EQ(decide(plan, {.first_look = kStart}, kStart + 4s).verdict.ledger.start_time, kStart);
}

TEST(Create, MS5_NoPodBeforeTheServiceHasItsAddress) {
  const auto plan = JobBuilder().scheduler().workers(2).first_worker_decides().build();
  Observed observed = begun();
  Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(actions<CreateObject>(decision).size(), 1U);
  EXPECT_THAT(created_pods(decision), IsEmpty());

  observed.objects = {service("bert-scheduler-0", "")};
  decision = decide(plan, observed, kStart);
  EXPECT_THAT(actions<CreateObject>(decision), IsEmpty());
  EXPECT_THAT(created_pods(decision), ElementsAre("bert-scheduler-0"))
      << "only workers need the address";

  observed.objects = {service()};
  decision = decide(plan, observed, kStart);
  EXPECT_THAT(created_pods(decision),
              ElementsAre("bert-scheduler-0", "bert-worker-0", "bert-worker-1"));
  const json::Value worker = make_pod(plan, actions<CreatePod>(decision)[1]);
  EXPECT_EQ(worker["spec"]["containers"][0]["image"].as_string(), "10.96.0.7");
}

TEST(Create, PodsCarryOwnerRankAndAttempt) {
  const auto plan = JobBuilder().workers(1).first_worker_decides().build();
  Observed observed = begun();
  observed.ledger.roles["Worker"].attempts.set(0, 3);
  const Decision decision = decide(plan, observed, kStart);
  const json::Value body = make_pod(plan, actions<CreatePod>(decision).at(0));
  const auto& owner = body["metadata"]["ownerReferences"][0];
  EXPECT_EQ(owner["uid"].as_string(), "job-uid");
  EXPECT_EQ(owner["apiVersion"].as_string(), "mindspore.gitee.com/v1");
  EXPECT_TRUE(owner["controller"].as_bool());
  EXPECT_TRUE(owner["blockOwnerDeletion"].as_bool());
  const auto& labels = body["metadata"]["labels"];
  EXPECT_EQ(labels["muster.dev/role"].as_string(), "Worker");
  EXPECT_EQ(labels["muster.dev/index"].as_string(), "0");
  EXPECT_EQ(labels["muster.dev/attempt"].as_string(), "3");
}

TEST(Create, MS4_NoReplicasNoPodsAndNoVerdict) {
  const auto plan = JobBuilder().role("PS", "ps", 0).workers(1).first_worker_decides().build();
  const Decision decision = decide(plan, begun(), kStart);
  EXPECT_THAT(created_pods(decision), ElementsAre("bert-worker-0"));
  EXPECT_EQ(decision.verdict.phase, Phase::Created);
}

TEST(Create, ALostPodIsMadeAgainEvenIfItHadSucceeded) {
  const auto plan = JobBuilder().workers(2).all_workers_decide().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 1, PodPhase::Running)};
  EXPECT_THAT(created_pods(decide(plan, observed, kStart)), ElementsAre("bert-worker-0"));
}

TEST(Create, APodOnItsWayOutIsWaitedForAndItsEndMeansNothing) {
  const auto plan = JobBuilder().workers(1).first_worker_decides().build();
  Observed observed = begun();
  for (const auto phase : {PodPhase::Running, PodPhase::Failed, PodPhase::Succeeded}) {
    observed.pods = {pod("Worker", 0, phase, phase == PodPhase::Failed ? 143 : 0)};
    observed.pods[0].deleting = true;
    const Decision decision = decide(plan, observed, kStart);
    EXPECT_THAT(decision.wave, IsEmpty());
    EXPECT_FALSE(plan::is_terminal(decision.verdict.phase)) << api::to_string(phase);
  }
}

TEST(Create, ATwiceHeldRankIsNeitherCountedNorTouched) {
  const auto plan = JobBuilder().workers(1).first_worker_decides().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Succeeded, 0), pod("Worker", 0, PodPhase::Failed, 1)};
  observed.pods[1].uid = "another";
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_THAT(decision.wave, IsEmpty());
  EXPECT_FALSE(plan::is_terminal(decision.verdict.phase));
}

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

TEST(InvalidFromTheStart, IsFailedForGoodAndSaysWhy) {
  const auto job = JobBuilder().build().job;
  const Error error{.code = ErrorCode::Invalid, .message = "spec: is required"};
  const Decision decision = decide_invalid(job, {}, error, kStart);
  EXPECT_TRUE(decision.commit_first);
  EXPECT_THAT(decision.wave, IsEmpty());
  EXPECT_EQ(decision.verdict.phase, Phase::Failed);
  EXPECT_EQ(decision.verdict.cause->kind, plan::CauseKind::InvalidSpec);
  EXPECT_EQ(decision.verdict.cause->text, "spec: is required");
  EXPECT_EQ(decision.verdict.ledger.completion_time, kStart);
  const Observed later{.ledger = decision.verdict.ledger};
  const Decision again = decide_invalid(job, later, error, kStart + 1h);
  EXPECT_EQ(again.verdict.ledger, decision.verdict.ledger);
  EXPECT_THAT(again.notes, IsEmpty());
}

}  // namespace
}  // namespace muster::engine
