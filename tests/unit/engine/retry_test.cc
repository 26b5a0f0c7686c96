#include "engine/retry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/decide.h"

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
  EXPECT_EQ(decision.verdict.ledger.roles.at("Worker").attempts.at(1), 1);
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
  EXPECT_EQ(again.verdict.ledger.roles.at("Worker").attempts.at(1), 1);
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
  observed.pods.push_back(attempt(pod("Worker", 1, PodPhase::Pending), 1));
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
  observed.ledger.roles["Worker"].attempts.set(0, 1);
  observed.pods = {attempt(pod("Worker", 0, PodPhase::Failed, 137), 1)};
  observed.ledger = decide(plan, observed, kStart).verdict.ledger;
  observed.pods.clear();
  const Decision waiting = decide(plan, observed, kStart);
  EXPECT_THAT(created_pods(waiting), IsEmpty());
  EXPECT_EQ(waiting.wake_at, kStart + 1s);
  EXPECT_THAT(created_pods(decide(plan, observed, kStart + 1s)), ElementsAre("bert-worker-0"));
}

// What became of a failed pod, under which rule, is what it means for the job.
struct FailureCase {
  std::string name;
  PodView pod;
  RankState never, disruption, retryable_code;
};

PodView failed_with_reason(const std::string& reason, std::optional<int> exit_code = {}) {
  PodView view = pod("Worker", 0, PodPhase::Failed, exit_code);
  view.reason = reason;
  return view;
}

class AfterFailure : public ::testing::TestWithParam<FailureCase> {};

TEST_P(AfterFailure, FollowsTheRule) {
  const auto& [name, failed, never, disruption, retryable_code] = GetParam();
  using On = plan::Retry::On;
  const plan::ExitCodes codes{.listed = {130, 137, 138, 143}};
  const ContainerView* main = failed.container("mindspore");
  EXPECT_EQ(after_failure({.on = On::Never, .codes = codes}, failed, main), never);
  EXPECT_EQ(after_failure({.on = On::Disruption, .codes = codes}, failed, main), disruption);
  EXPECT_EQ(after_failure({.on = On::RetryableCode, .codes = codes}, failed, main), retryable_code);
}

constexpr RankState kFailed = RankState::Failed;
constexpr RankState kRetryable = RankState::Retryable;
constexpr RankState kDisrupted = RankState::Disrupted;

INSTANTIATE_TEST_SUITE_P(
    Table, AfterFailure,
    ::testing::Values(FailureCase{"a program's own failure", pod("Worker", 0, PodPhase::Failed, 1),
                                  kFailed, kFailed, kFailed},
                      FailureCase{"a code that asks for a retry",
                                  pod("Worker", 0, PodPhase::Failed, 138), kFailed, kFailed,
                                  kRetryable},
                      FailureCase{"evicted by the API, preempted, drained, collected",
                                  disrupted("Worker", 0, 143), kFailed, kDisrupted, kDisrupted},
                      FailureCase{"disrupted with a code that is none of ours",
                                  disrupted("Worker", 0, 1), kFailed, kDisrupted, kDisrupted},
                      FailureCase{"disrupted before it ran", disrupted("Worker", 0), kFailed,
                                  kDisrupted, kDisrupted},
                      FailureCase{"the node shut down", failed_with_reason("NodeShutdown"), kFailed,
                                  kDisrupted, kDisrupted},
                      FailureCase{"the node was lost", failed_with_reason("NodeLost"), kFailed,
                                  kDisrupted, kDisrupted},
                      FailureCase{"the node does not match", failed_with_reason("NodeAffinity"),
                                  kFailed, kDisrupted, kDisrupted},
                      FailureCase{"a device could not be given",
                                  failed_with_reason("UnexpectedAdmissionError"), kFailed,
                                  kDisrupted, kDisrupted},
                      FailureCase{"the node had no room", failed_with_reason("OutOfcpu"), kFailed,
                                  kDisrupted, kDisrupted},
                      FailureCase{"its own storage limit", failed_with_reason("Evicted", 137),
                                  kFailed, kFailed, kRetryable},
                      FailureCase{"its own deadline", failed_with_reason("DeadlineExceeded"),
                                  kFailed, kFailed, kFailed},
                      FailureCase{"an init container failed, so main never ran",
                                  pod("Worker", 0, PodPhase::Failed), kFailed, kFailed, kFailed}));

TEST(AfterAnyFailure, ADisruptionIsCountedByNoLimitButThatOfABatchJob) {
  using plan::Retry;
  const PodView taken = disrupted("Worker", 0, 143);
  const PodView failed = pod("Worker", 0, PodPhase::Failed, 143);
  const Retry any{.on = Retry::On::AnyFailure};
  const Retry batch{.on = Retry::On::AnyFailure, .pause = Retry::Pause::Role};
  EXPECT_EQ(after_failure(any, taken, taken.container("mindspore")), kDisrupted);
  EXPECT_EQ(after_failure(any, failed, failed.container("mindspore")), kRetryable);
  EXPECT_EQ(after_failure(batch, taken, taken.container("mindspore")), kRetryable);
}

TEST(AfterFailureWithoutCode, IsRetriedWhereTheKindSaysSo) {
  const PodView lost = pod("Worker", 0, PodPhase::Failed);
  EXPECT_EQ(after_failure({.on = plan::Retry::On::RetryableCode, .without_code = true}, lost,
                          lost.container("mindspore")),
            RankState::Retryable);
}

// Its node cannot obey the manifest: the next pod would have the same.
TEST(Refused, IsNeverTriedAgainAndTheJobSaysWhy) {
  PodView refused = failed_with_reason("UnsupportedField");
  refused.message = "spec.hostPID: true cannot be obeyed";
  refused.refused = true;
  using On = plan::Retry::On;
  for (const auto on : {On::Never, On::Disruption, On::RetryableCode, On::AnyFailure}) {
    EXPECT_EQ(after_failure({.on = on, .without_code = true}, refused, nullptr), RankState::Failed);
  }
  const auto plan = JobBuilder().workers(2).all_workers_decide().restart_in_place().build();
  Observed observed = begun();
  observed.pods = {refused, pod("Worker", 1, PodPhase::Running)};
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Failed);
  EXPECT_EQ(decision.verdict.cause->kind, plan::CauseKind::Rejected);
  EXPECT_EQ(decision.verdict.cause->text, refused.message);
}

TEST(ExitCodes, AreListedOrFromANumberOn) {
  const plan::ExitCodes from{.from = 128};
  EXPECT_FALSE(from.contains(127));
  EXPECT_TRUE(from.contains(128));
  EXPECT_TRUE(from.contains(255));
}

TEST(Disruption, IsShownAndDelayedAsARestart) {
  const auto plan = JobBuilder().workers(2).all_workers_decide().restart_in_place().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), disrupted("Worker", 1, 143)};
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Restarting);
  EXPECT_EQ(decision.verdict.cause->reason, "EvictionByEvictionAPI");
  EXPECT_EQ(decision.verdict.counts.at("Worker").restarts, 1);
  EXPECT_THAT(deleted_pods(decision), ElementsAre("bert-worker-1"));
  observed.ledger = decision.verdict.ledger;
  observed.pods[1] = attempt(disrupted("Worker", 1, 143), 1);
  observed.ledger = decide(plan, observed, kStart).verdict.ledger;
  observed.pods.pop_back();
  EXPECT_EQ(decide(plan, observed, kStart).wake_at, kStart + 1s) << "the second time it waits";
}

// As eviction, preemption and the taint manager do it: the condition, and a deletion with grace.
PodView taken_away(const std::string& role, int index) {
  PodView view = pod(role, index, PodPhase::Running);
  view.deleting = true;
  view.disruption_target = true;
  view.reason = "EvictionByEvictionAPI";
  return view;
}

TEST(Disruption, IsCountedOnceWhileThePodGoesAndMadeAnewWhenItIsGone) {
  auto plan = JobBuilder().workers(2).all_workers_decide().restart_in_place().build();
  plan.limits.backoff = 0;
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), taken_away("Worker", 1)};
  const Decision seen = decide(plan, observed, kStart);
  EXPECT_TRUE(seen.commit_first);
  EXPECT_EQ(seen.verdict.phase, Phase::Restarting);
  EXPECT_EQ(seen.verdict.cause->reason, "EvictionByEvictionAPI");
  EXPECT_EQ(seen.verdict.counts.at("Worker").restarts, 1);
  EXPECT_THAT(seen.wave, IsEmpty()) << "it goes already, and two must never live at once";
  observed.ledger = seen.verdict.ledger;
  observed.pods[1].phase = PodPhase::Failed;
  const Decision ended = decide(plan, observed, kStart + 1s);
  EXPECT_EQ(ended.verdict.counts.at("Worker").restarts, 1);
  EXPECT_THAT(ended.wave, IsEmpty());
  observed.pods.pop_back();
  EXPECT_THAT(created_pods(decide(plan, observed, kStart + 2s)), ElementsAre("bert-worker-1"));
}

TEST(Disruption, FailsAJobWhosePodsAreNeverMadeAnew) {
  const auto plan = JobBuilder().workers(2).all_workers_decide().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), taken_away("Worker", 1)};
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Failed);
  EXPECT_EQ(decision.verdict.cause->pod, "bert-worker-1");
  EXPECT_EQ(decision.verdict.cause->reason, "EvictionByEvictionAPI");
}

TEST(Retry, APodThatWasReplacedIsDeletedUntilItIsGoneAndNeverCounted) {
  const auto plan = JobBuilder().workers(1).first_worker_decides().retry_on_exit_code().build();
  Observed observed = begun();
  observed.ledger.roles["Worker"].attempts.set(0, 2);
  observed.ledger.roles["Worker"].recovering.insert(0);
  observed.pods = {attempt(pod("Worker", 0, PodPhase::Failed, 1), 1)};
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Restarting);
  EXPECT_THAT(deleted_pods(decision), ElementsAre("bert-worker-0"));
  EXPECT_THAT(created_pods(decision), IsEmpty());
}

TEST(Retry, ManyExitsAtOnceAreToldInOneSentence) {
  const auto plan = JobBuilder().workers(11).all_workers_decide().retry_on_exit_code().build();
  Observed observed = begun();
  for (int i = 0; i < 11; ++i) observed.pods.push_back(pod("Worker", i, PodPhase::Failed, 137));
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_THAT(kinds(decision),
              UnorderedElementsAre(Note::Kind::ContainersExited, Note::Kind::Restarting));
  EXPECT_EQ(decision.notes[0].subject, "11");
}

TEST(Retry, ARankThatWasScaledAwayIsForgotten) {
  const auto plan = JobBuilder().workers(1).first_worker_decides().retry_on_exit_code().build();
  Observed observed = begun();
  observed.ledger.roles["Worker"].recovering.insert(3);
  observed.ledger.roles["Worker"].not_before[3] = kStart + 1h;
  observed.pods = {pod("Worker", 0, PodPhase::Running)};
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Running);
  EXPECT_THAT(decision.verdict.ledger.roles.at("Worker").not_before, IsEmpty());
}

struct DelayCase {
  std::int64_t attempt;
  std::chrono::seconds delay;
};

TEST(RetryDelay, GrowsFromNothingToFiveMinutes) {
  for (const auto& [attempt_number, delay] :
       {DelayCase{0, 0s}, DelayCase{1, 0s}, DelayCase{2, 1s}, DelayCase{3, 2s}, DelayCase{4, 4s},
        DelayCase{10, 256s}, DelayCase{11, 300s}, DelayCase{1'000'000, 300s}}) {
    EXPECT_EQ(retry_delay(attempt_number), delay) << attempt_number;
  }
}

}  // namespace
}  // namespace muster::engine
