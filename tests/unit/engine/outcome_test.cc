#include "engine/ending/outcome.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/decide.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using plan::Phase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

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

// Four Workers, one in each end and one that runs.
Observed one_of_each() {
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Succeeded, 0), pod("Worker", 1, PodPhase::Failed, 1),
                   pod("Worker", 2, PodPhase::Running), pod("Worker", 3, PodPhase::Pending)};
  return observed;
}

struct SetCase {
  std::string name;
  plan::RankSet set;
  bool satisfied;
};

TEST(RankSet, IsSatisfiedByTheRanksAsTheyStand) {
  using Set = plan::RankSet;
  using Is = plan::RankSet::Outcome;
  const auto plan = JobBuilder().role("PS", "ps", 0).workers(4).build();
  const Observed observed = one_of_each();
  const Census census(plan, observed.pods, observed.ledger);
  const std::vector<SetCase> cases = {
      {"one has succeeded", plan::any_of("Worker", Is::Succeeded), true},
      {"one has failed", plan::any_of("Worker", Is::Failed), true},
      {"one runs", plan::any_of("Worker", Is::Running), true},
      {"not all have succeeded", plan::all_of("Worker", Is::Succeeded), false},
      {"not all have finished", plan::all_of("Worker", Is::Finished), false},
      {"two have finished", {"Worker", Set::Quorum::AtLeast, 2, Is::Finished}, true},
      {"not three", {"Worker", Set::Quorum::AtLeast, 3, Is::Finished}, false},
      {"rank 0 has succeeded", plan::rank_of("Worker", 0, Is::Succeeded), true},
      {"rank 0 has not failed", plan::rank_of("Worker", 0, Is::Failed), false},
      {"rank 1 has failed", plan::rank_of("Worker", 1, Is::Failed), true},
      {"rank 1 has finished", plan::rank_of("Worker", 1, Is::Finished), true},
      {"rank 2 runs", plan::rank_of("Worker", 2, Is::Running), true},
      {"rank 3 has not begun", plan::rank_of("Worker", 3, Is::Running), false},
      {"there is no rank 4", plan::rank_of("Worker", 4, Is::Running), false},
      {"a role without ranks says nothing", plan::all_of("PS", Is::Succeeded), false},
      {"nor one that is not there", plan::all_of("Launcher", Is::Succeeded), false},
  };
  for (const SetCase& c : cases) EXPECT_EQ(satisfied(c.set, plan, census), c.satisfied) << c.name;
}

TEST(FailureCause, IsTheEarliestFailureAndCountsItsRole) {
  const auto plan = JobBuilder().role("PS", "ps", 1).workers(3).build();
  Observed observed = begun();
  observed.pods = {pod("PS", 0, PodPhase::Failed, 2), pod("Worker", 0, PodPhase::Failed, 3),
                   pod("Worker", 1, PodPhase::Failed, 4), pod("Worker", 2, PodPhase::Running)};
  observed.pods[0].finished_at = kStart + 5s;
  observed.pods[1].finished_at.reset();  // nobody knows when
  observed.pods[2].finished_at = kStart + 2s;
  const plan::Cause cause = failure_cause(plan, Census(plan, observed.pods, observed.ledger));
  EXPECT_EQ(cause.role, "Worker");
  EXPECT_EQ(cause.index, 1);
  EXPECT_EQ(cause.exit_code, 4);
  EXPECT_EQ(cause.failed, 2);
  EXPECT_EQ(cause.at, kStart + 2s);
}

TEST(FailureCause, SaysWhatThePodSaysRatherThanItsContainer) {
  const auto plan = JobBuilder().workers(1).build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Failed, 137)};
  observed.pods[0].containers[0].message = "Killed";
  const auto cause = [&] {
    return failure_cause(plan, Census(plan, observed.pods, observed.ledger));
  };
  EXPECT_EQ(cause().reason, "Error");
  EXPECT_EQ(cause().text, "Killed");
  observed.pods[0].reason = "Evicted";
  observed.pods[0].message = "its disk was full";
  EXPECT_EQ(cause().reason, "Evicted");
  EXPECT_EQ(cause().text, "its disk was full");
}

TEST(FailureCause, WithoutAFailedRankStillNamesTheJob) {
  const auto plan = JobBuilder().workers(1).build();
  EXPECT_EQ(failure_cause(plan, Census(plan, {}, {})).text, "no rank of bert is left");
}

TEST(OutcomeTie, IsBrokenAsThePlanSays) {
  auto plan = JobBuilder().workers(4).build();
  plan.success = {plan::any_of("Worker", plan::RankSet::Outcome::Succeeded)};
  const Observed observed = one_of_each();
  const Census census(plan, observed.pods, observed.ledger);
  plan.tie = plan::Tie::SuccessWins;
  EXPECT_EQ(outcome(plan, census), Phase::Succeeded);
  plan.tie = plan::Tie::FailureWins;
  EXPECT_EQ(outcome(plan, census), Phase::Failed);
  plan.failure.clear();
  EXPECT_EQ(outcome(plan, census), Phase::Succeeded);
  plan.success.clear();
  EXPECT_EQ(outcome(plan, census), std::nullopt);
}

TEST(EveryRole, HasToSatisfyASetWithoutARole) {
  struct Row {
    std::string name;
    std::vector<PodView> pods;
    bool expected;
  };
  const std::vector<Row> rows = {
      {"nobody is there", {}, false},
      {"one role", {pod("Worker", 0, PodPhase::Succeeded, 0)}, false},
      {"both",
       {pod("Scheduler", 0, PodPhase::Succeeded, 0), pod("Worker", 0, PodPhase::Succeeded, 0)},
       true},
      {"one of them still runs",
       {pod("Scheduler", 0, PodPhase::Running), pod("Worker", 0, PodPhase::Succeeded, 0)},
       false},
  };
  plan::Plan plan = JobBuilder().scheduler().workers(1).role("Idle", "idle", 0).build();
  const auto set = plan::all_of_every_role(plan::RankSet::Outcome::Succeeded);
  const plan::Ledger ledger;
  for (const Row& row : rows) {
    EXPECT_EQ(satisfied(set, plan, Census(plan, row.pods, ledger)), row.expected) << row.name;
  }
  plan.roles.clear();
  EXPECT_FALSE(satisfied(set, plan, Census(plan, {}, ledger))) << "a job without ranks";
}

}  // namespace
}  // namespace muster::engine
