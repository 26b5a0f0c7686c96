#include "engine/ending/cleanup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/decide.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using plan::CleanUp;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

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

TEST(CleanUpByRole, EachRoleHasItsOwnPolicyForEachEnd) {
  auto plan = JobBuilder().role("Launcher", "launcher", 1).workers(1).build();
  plan.roles[0].on_success = CleanUp::None;
  plan.roles[1].on_success = CleanUp::All;
  plan.roles[0].on_failure = CleanUp::All;
  plan.roles[1].on_failure = CleanUp::None;
  Observed observed = begun();
  observed.objects = {service()};
  observed.pods = {pod("Launcher", 0, PodPhase::Succeeded, 0), pod("Worker", 0, PodPhase::Running)};
  std::vector<Action> wave;
  clean_up(plan, observed, {.phase = plan::Phase::Succeeded}, wave);
  ASSERT_EQ(wave.size(), 2U) << "the Worker and the service";
  EXPECT_EQ(std::get<DeletePod>(wave[0]).name, "bert-worker-0");
  wave.clear();
  clean_up(plan, observed, {.phase = plan::Phase::Failed}, wave);
  EXPECT_EQ(std::get<DeletePod>(wave[0]).name, "bert-launcher-0");
}

TEST(CleanUpObjects, OneThatIsTheJobsStaysAsLongAsTheJob) {
  auto plan = JobBuilder().scheduler().workers(1).build();
  plan.objects[0].until = plan::Until::JobGone;
  Observed observed = begun();
  observed.objects = {service(), service("another")};
  std::vector<Action> wave;
  clean_up(plan, observed, {.phase = plan::Phase::Failed}, wave);
  ASSERT_EQ(wave.size(), 1U);
  EXPECT_EQ(std::get<DeleteObject>(wave[0]).name, "another");
}

struct PolicyCase {
  std::string name;
  plan::Phase phase;
  std::optional<plan::CauseKind> cause;
  CleanUp expected;
};

TEST(CleanUpObjects, ThoseOfRanksGoAsTheirRolesPolicySays) {
  auto plan = JobBuilder().scheduler().workers(2).service_for_each_worker().build();
  for (plan::Role& role : plan.roles) {
    role.on_success = role.name == "Worker" ? CleanUp::None : CleanUp::Running;
  }
  Observed observed = begun();
  observed.ledger.phase = plan::Phase::Succeeded;
  observed.objects = {service(), service("bert-worker-0"), service("bert-worker-1")};
  const auto gone = actions<DeleteObject>(decide(plan, observed, kStart));
  ASSERT_EQ(gone.size(), 1U) << "the Workers stay, and so do their Services";
  EXPECT_EQ(gone[0].name, "bert-scheduler-0");
}

TEST(CleanUpByEnd, EachWayToEndHasItsPolicy) {
  using plan::CauseKind;
  using plan::Phase;
  plan::Role role;
  role.on_success = CleanUp::None;
  role.on_failure = CleanUp::All;
  role.on_limit = CleanUp::Running;
  const std::vector<PolicyCase> cases = {
      {"success", Phase::Succeeded, {}, CleanUp::None},
      {"a rank failed", Phase::Failed, CauseKind::PodFailed, CleanUp::All},
      {"refused", Phase::Failed, CauseKind::Rejected, CleanUp::All},
      {"a name was taken", Phase::Failed, CauseKind::ForeignObject, CleanUp::All},
      {"active for too long", Phase::Failed, CauseKind::Deadline, CleanUp::Running},
      {"restarted too often", Phase::Failed, CauseKind::BackoffLimit, CleanUp::Running},
  };
  for (const PolicyCase& c : cases) {
    plan::Ledger ledger{.phase = c.phase};
    if (c.cause) ledger.cause = plan::Cause{.kind = *c.cause};
    EXPECT_EQ(clean_up_policy(role, ledger), c.expected) << c.name;
  }
}

TEST(CleanUpPods, WhatIsOnItsWayOutIsNotAskedAgain) {
  const auto plan = JobBuilder().scheduler().workers(2).clean(CleanUp::All).build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), pod("Worker", 1, PodPhase::Running)};
  observed.pods[0].deleting = true;
  observed.objects = {service()};
  observed.objects[0].deleting = true;
  std::vector<Action> wave;
  clean_up(plan, observed, {.phase = plan::Phase::Succeeded}, wave);
  ASSERT_EQ(wave.size(), 1U);
  EXPECT_EQ(std::get<DeletePod>(wave[0]).name, "bert-worker-1");
}

TEST(CleanUpPods, ThoseOfARoleThatIsNoMoreGoOnlyWhileTheyRun) {
  const auto plan = JobBuilder().workers(1).clean(CleanUp::None).build();
  Observed observed = begun();
  observed.pods = {pod("PS", 0, PodPhase::Running), pod("PS", 1, PodPhase::Succeeded, 0),
                   pod("Worker", 0, PodPhase::Running)};
  std::vector<Action> wave;
  clean_up(plan, observed, {.phase = plan::Phase::Failed}, wave);
  ASSERT_EQ(wave.size(), 1U);
  EXPECT_EQ(std::get<DeletePod>(wave[0]).name, "bert-ps-0");
}

TEST(CleanUp, WhatEndsWithTheJobGoesAlsoWhereAllPodsStay) {
  auto plan =
      JobBuilder().scheduler().workers(1).first_worker_decides().clean(plan::CleanUp::None).build();
  Observed observed = begun();
  observed.objects = {service()};
  observed.pods = {pod("Worker", 0, PodPhase::Succeeded, 0)};
  EXPECT_THAT(actions<DeleteObject>(decide(plan, observed, kStart)), IsEmpty());
  plan.objects[0].ends_with_job = true;
  EXPECT_EQ(actions<DeleteObject>(decide(plan, observed, kStart)).size(), 1U);
}

}  // namespace
}  // namespace muster::engine
