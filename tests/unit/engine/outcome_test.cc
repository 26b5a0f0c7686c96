#include "engine/outcome.h"

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

}  // namespace
}  // namespace muster::engine
