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

}  // namespace
}  // namespace muster::engine
