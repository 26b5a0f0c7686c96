#include "engine/decide.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using plan::CauseKind;
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

}  // namespace
}  // namespace muster::engine
