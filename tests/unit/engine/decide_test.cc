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
using plan::Note;
using plan::Phase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using namespace std::chrono_literals;

std::vector<Note::Kind> kinds(const Decision& decision) {
  std::vector<Note::Kind> all;
  for (const Note& note : decision.notes) all.push_back(note.kind);
  return all;
}

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
  observed.ledger.attempts["Worker/0"] = 3;
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

TEST(Scale, FewerReplicasDeleteTheHighestIndexesAndMoreCreateTheMissing) {
  Observed observed = begun();
  for (int i = 0; i < 3; ++i) observed.pods.push_back(pod("Worker", i, PodPhase::Running));
  const auto fewer =
      decide(JobBuilder().workers(2).first_worker_decides().build(), observed, kStart);
  EXPECT_THAT(deleted_pods(fewer), ElementsAre("bert-worker-2"));
  EXPECT_EQ(actions<DeletePod>(fewer)[0].reason, Reason::ScaleDown);
  EXPECT_EQ(actions<DeletePod>(fewer)[0].uid, "uid-bert-worker-2");
  const auto more =
      decide(JobBuilder().workers(4).first_worker_decides().build(), observed, kStart);
  EXPECT_THAT(created_pods(more), ElementsAre("bert-worker-3"));
}

struct OutcomeCase {
  std::string name;
  bool all_workers;
  std::vector<PodView> pods;
  Phase expected;
};

class Outcome : public ::testing::TestWithParam<OutcomeCase> {};

TEST_P(Outcome, IsWhatTheRulesSay) {
  JobBuilder builder;
  builder.scheduler().workers(2);
  const auto plan =
      (GetParam().all_workers ? builder.all_workers_decide() : builder.first_worker_decides())
          .build();
  Observed observed = begun();
  observed.objects = {service()};
  observed.pods = GetParam().pods;
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, GetParam().expected);
  if (plan::is_terminal(GetParam().expected)) {
    EXPECT_TRUE(decision.commit_first);
    EXPECT_EQ(decision.verdict.ledger.completion_time, kStart);
    EXPECT_THAT(created_pods(decision), IsEmpty()) << "nothing is created after the end";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Outcome,
    ::testing::Values(
        OutcomeCase{"first worker succeeded",
                    false,
                    {pod("Worker", 0, PodPhase::Succeeded, 0), pod("Worker", 1, PodPhase::Running)},
                    Phase::Succeeded},
        OutcomeCase{"only the second worker succeeded",
                    false,
                    {pod("Worker", 0, PodPhase::Running), pod("Worker", 1, PodPhase::Succeeded, 0)},
                    Phase::Running},
        OutcomeCase{"all workers must, one still runs",
                    true,
                    {pod("Worker", 0, PodPhase::Succeeded, 0), pod("Worker", 1, PodPhase::Running)},
                    Phase::Running},
        OutcomeCase{
            "all workers did",
            true,
            {pod("Worker", 0, PodPhase::Succeeded, 0), pod("Worker", 1, PodPhase::Succeeded, 0)},
            Phase::Succeeded},
        OutcomeCase{"scheduler failed",
                    false,
                    {pod("Scheduler", 0, PodPhase::Failed, 1), pod("Worker", 0, PodPhase::Running)},
                    Phase::Failed},
        OutcomeCase{
            "scheduler succeeded, which means nothing",
            true,
            {pod("Scheduler", 0, PodPhase::Succeeded, 0), pod("Worker", 0, PodPhase::Running)},
            Phase::Running},
        OutcomeCase{
            "MS-7: success wins by default",
            false,
            {pod("Worker", 0, PodPhase::Succeeded, 0), pod("Worker", 1, PodPhase::Failed, 1)},
            Phase::Succeeded},
        OutcomeCase{
            "MS-7: failure wins when all must succeed",
            true,
            {pod("Worker", 0, PodPhase::Succeeded, 0), pod("Worker", 1, PodPhase::Failed, 1)},
            Phase::Failed},
        OutcomeCase{
            "nothing runs yet", false, {pod("Worker", 0, PodPhase::Pending)}, Phase::Created},
        OutcomeCase{"unknown is not failed",
                    false,
                    {pod("Worker", 0, PodPhase::Unknown)},
                    Phase::Created}));

TEST(Retry, MS6_ARetriedRankIsNotAFailureWhileOthersRun) {
  const auto plan = JobBuilder().workers(2).all_workers_decide().retry_on_exit_code().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), pod("Worker", 1, PodPhase::Failed, 137)};
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Restarting);
  EXPECT_TRUE(decision.commit_first) << "the ledger justifies the deletion before it happens";
  EXPECT_EQ(decision.verdict.ledger.attempts.at("Worker/1"), 1);
  EXPECT_THAT(deleted_pods(decision), ElementsAre("bert-worker-1"));
  EXPECT_EQ(actions<DeletePod>(decision)[0].reason, Reason::ReplaceFailed);
  EXPECT_EQ(decision.verdict.counts.at("Worker").failed, 0);
  EXPECT_THAT(kinds(decision),
              UnorderedElementsAre(Note::Kind::ContainerExited, Note::Kind::Restarting));
}

TEST(Retry, MS17_ARestartIsToldOnceAndCountedOnce) {
  const auto plan = JobBuilder().workers(2).all_workers_decide().retry_on_exit_code().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), pod("Worker", 1, PodPhase::Failed, 137)};
  observed.ledger = decide(plan, observed, kStart).verdict.ledger;
  // As after a crash between the write and the deletion: the deletion is repeated, nothing else.
  const Decision again = decide(plan, observed, kStart + 1s);
  EXPECT_FALSE(again.commit_first);
  EXPECT_THAT(deleted_pods(again), ElementsAre("bert-worker-1"));
  EXPECT_EQ(again.verdict.ledger.attempts.at("Worker/1"), 1);
  EXPECT_EQ(again.verdict.counts.at("Worker").restarts, 1);
  EXPECT_THAT(again.notes, IsEmpty());
}

TEST(Retry, RunningAgainOnceTheReplacedRankRuns) {
  const auto plan = JobBuilder().workers(2).all_workers_decide().retry_on_exit_code().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), pod("Worker", 1, PodPhase::Failed, 138)};
  observed.ledger = decide(plan, observed, kStart).verdict.ledger;
  observed.pods.pop_back();
  Decision decision = decide(plan, observed, kStart);
  EXPECT_THAT(created_pods(decision), ElementsAre("bert-worker-1"));
  EXPECT_EQ(decision.verdict.phase, Phase::Restarting);
  observed.pods.push_back(pod("Worker", 1, PodPhase::Pending));
  observed.pods.back().uid = "new";
  decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Restarting);
  EXPECT_TRUE(decision.verdict.cause);
  observed.pods.back().phase = PodPhase::Running;
  decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Running);
  EXPECT_FALSE(decision.verdict.cause) << "recovered";
}

class ExitCode : public ::testing::TestWithParam<std::pair<int, bool>> {};

TEST_P(ExitCode, DecidesWhetherARankIsTriedAgain) {
  const auto plan = JobBuilder().workers(1).first_worker_decides().retry_on_exit_code().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Failed, GetParam().first)};
  EXPECT_EQ(decide(plan, observed, kStart).verdict.phase,
            GetParam().second ? Phase::Restarting : Phase::Failed);
}

INSTANTIATE_TEST_SUITE_P(Table, ExitCode,
                         ::testing::Values(std::pair(130, true), std::pair(137, true),
                                           std::pair(138, true), std::pair(143, true),
                                           std::pair(1, false), std::pair(2, false),
                                           std::pair(126, false), std::pair(127, false),
                                           std::pair(128, false), std::pair(139, false),
                                           std::pair(255, false)));

TEST(Retry, AFailureWithoutAnExitCodeIsPermanent) {
  const auto plan = JobBuilder().workers(1).first_worker_decides().retry_on_exit_code().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Failed)};
  observed.pods[0].reason = "Evicted";
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Failed);
  EXPECT_EQ(decision.verdict.cause->reason, "Evicted");
}

TEST(Retry, TheSecondTryWaitsAndTheWaitSurvivesInTheLedger) {
  const auto plan = JobBuilder().workers(1).first_worker_decides().retry_on_exit_code().build();
  Observed observed = begun();
  observed.ledger.attempts["Worker/0"] = 1;
  observed.pods = {pod("Worker", 0, PodPhase::Failed, 137)};
  observed.ledger = decide(plan, observed, kStart).verdict.ledger;
  observed.pods.clear();
  const Decision waiting = decide(plan, observed, kStart);
  EXPECT_THAT(created_pods(waiting), IsEmpty());
  EXPECT_EQ(waiting.wake_at, kStart + 1s);
  EXPECT_THAT(created_pods(decide(plan, observed, kStart + 1s)), ElementsAre("bert-worker-0"));
}

TEST(Backoff, MS11_RecreatedPodsCountAgainstTheLimit) {
  const auto plan = JobBuilder()
                        .workers(1)
                        .first_worker_decides()
                        .retry_on_exit_code()
                        .limits({.backoff = 2})
                        .build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Failed, 137)};
  EXPECT_EQ(decide(plan, observed, kStart).verdict.phase, Phase::Restarting);
  observed.ledger.attempts["Worker/0"] = 1;
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Failed);
  EXPECT_EQ(decision.verdict.cause->kind, CauseKind::BackoffLimit);
  EXPECT_EQ(decision.verdict.cause->exit_code, 137);
}

TEST(Backoff, ContainerRestartsCountAndZeroMeansNone) {
  auto plan = JobBuilder()
                  .workers(1)
                  .first_worker_decides()
                  .retry_on_exit_code()
                  .limits({.backoff = 0})
                  .build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running)};
  EXPECT_EQ(decide(plan, observed, kStart).verdict.phase, Phase::Running);
  observed.pods[0].containers[0].restarts = 1;
  EXPECT_EQ(decide(plan, observed, kStart).verdict.phase, Phase::Failed);
  plan.limits.backoff = 3;
  observed.pods[0].containers[0].restarts = 2;
  EXPECT_EQ(decide(plan, observed, kStart).verdict.phase, Phase::Running);
  observed.pods[0].containers[0].restarts = 3;
  observed.pods[0].containers[0].last_exit_code = 137;
  const Decision over = decide(plan, observed, kStart);
  EXPECT_EQ(over.verdict.phase, Phase::Failed);
  EXPECT_EQ(over.verdict.cause->kind, CauseKind::BackoffLimit);
  EXPECT_EQ(over.verdict.cause->pod, "bert-worker-0");
  EXPECT_EQ(over.verdict.cause->exit_code, 137) << "how its last life ended";
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
