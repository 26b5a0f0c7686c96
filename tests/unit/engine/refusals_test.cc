#include "engine/refusals.h"

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

constexpr std::string_view kQuota = "pods \"bert-worker-0\" is forbidden: exceeded quota: small";
constexpr std::string_view kNamespaceGoes =
    "pods \"bert-worker-0\" is forbidden: namespace ml is being terminated";
constexpr std::string_view kPolicy = "pods \"bert-worker-0\" is forbidden: violates PodSecurity";

Refusal refused(ErrorCode code, std::string_view message = "no") {
  return {.kind = "Pod",
          .name = "bert-worker-0",
          .role = "Worker",
          .index = 0,
          .error = {.code = code, .message = std::string(message)}};
}

// The Service that we need is there, and somebody else's.
Refusal foreign(bool terminating = false) {
  return {.kind = "Service",
          .name = "bert",
          .error = {.code = ErrorCode::AlreadyExists, .message = "services \"bert\" exists"},
          .foreign = true,
          .terminating = terminating};
}

struct RefusalCase {
  std::string name;
  std::vector<Refusal> refusals;
  std::optional<CauseKind> fatal;
  std::string text;  // of the fatal one
  std::string waiting_for;
  bool stop = false;
};

void expect_meanings(const std::vector<RefusalCase>& cases) {
  for (const RefusalCase& c : cases) {
    const RefusalMeaning meaning = weigh(c.refusals);
    ASSERT_EQ(meaning.fatal.has_value(), c.fatal.has_value()) << c.name;
    if (c.fatal) {
      EXPECT_EQ(meaning.fatal->kind, *c.fatal) << c.name;
      EXPECT_EQ(meaning.fatal->text, c.text) << c.name;
    }
    EXPECT_EQ(meaning.waiting_for, c.waiting_for) << c.name;
    EXPECT_EQ(meaning.stop, c.stop) << c.name;
  }
}

TEST(Refusals, EveryAnswerHasOneMeaning) {
  expect_meanings({
      {.name = "nothing was refused"},
      {.name = "409, our own from a wave before", .refusals = {refused(ErrorCode::AlreadyExists)}},
      {.name = "409, somebody else's",
       .refusals = {foreign()},
       .fatal = CauseKind::ForeignObject,
       .text = "Service bert exists and belongs to somebody else; delete it or rename the job"},
      {.name = "409, somebody else's that goes",
       .refusals = {foreign(true)},
       .waiting_for = "Service bert of another owner is being deleted"},
      {.name = "422",
       .refusals = {refused(ErrorCode::Invalid, "spec.containers: Required value")},
       .fatal = CauseKind::Rejected,
       .text = "spec.containers: Required value"},
      {.name = "400",
       .refusals = {refused(ErrorCode::BadRequest, "webhook denied it")},
       .fatal = CauseKind::Rejected,
       .text = "webhook denied it"},
      {.name = "413",
       .refusals = {refused(ErrorCode::TooLarge, "limit is 3145728")},
       .fatal = CauseKind::Rejected,
       .text = "limit is 3145728"},
      {.name = "403, a policy",
       .refusals = {refused(ErrorCode::Forbidden, kPolicy)},
       .fatal = CauseKind::Rejected,
       .text = std::string(kPolicy)},
      {.name = "403, quota",
       .refusals = {refused(ErrorCode::Forbidden, kQuota)},
       .waiting_for = std::string(kQuota)},
      {.name = "403, the namespace goes",
       .refusals = {refused(ErrorCode::Forbidden, kNamespaceGoes)},
       .stop = true},
      {.name = "only a 403 speaks of quota",
       .refusals = {refused(ErrorCode::Invalid, "exceeded quota")},
       .fatal = CauseKind::Rejected,
       .text = "exceeded quota"},
  });
}

TEST(Refusals, WhatMayHealIsTriedAgain) {
  for (const ErrorCode code : {ErrorCode::Unauthorized, ErrorCode::NotFound, ErrorCode::Conflict,
                               ErrorCode::TooManyRequests, ErrorCode::Internal,
                               ErrorCode::Unavailable, ErrorCode::Timeout}) {
    const RefusalMeaning meaning = weigh({refused(code, "try later")});
    EXPECT_FALSE(meaning.fatal) << to_string(code);
    EXPECT_FALSE(meaning.stop) << to_string(code);
    EXPECT_EQ(meaning.waiting_for, "try later") << to_string(code);
  }
}

TEST(Refusals, TheFirstThatIsFatalIsTheCause) {
  const Refusal invalid = refused(ErrorCode::Invalid, "bad port");
  const Refusal policy = refused(ErrorCode::Forbidden, kPolicy);
  const Refusal quota = refused(ErrorCode::Forbidden, kQuota);
  const std::string is_foreign =
      "Service bert exists and belongs to somebody else; delete it or rename the job";
  expect_meanings({
      {"foreign, invalid", {foreign(), invalid}, CauseKind::ForeignObject, is_foreign, ""},
      {"invalid, foreign", {invalid, foreign()}, CauseKind::Rejected, "bad port", ""},
      {"invalid, policy", {invalid, policy}, CauseKind::Rejected, "bad port", ""},
      {"policy, invalid", {policy, invalid}, CauseKind::Rejected, std::string(kPolicy), ""},
      {"quota hides nothing",
       {quota, invalid, quota},
       CauseKind::Rejected,
       "bad port",
       std::string(kQuota)},
      {"a name that is being freed hides nothing",
       {foreign(true), invalid},
       CauseKind::Rejected,
       "bad port",
       "Service bert of another owner is being deleted"},
  });
}

TEST(Refusals, TheCauseNamesTheRank) {
  Refusal refusal = refused(ErrorCode::Invalid, "bad port");
  refusal.index = 7;
  const RefusalMeaning meaning = weigh({refusal});
  ASSERT_TRUE(meaning.fatal);
  EXPECT_EQ(meaning.fatal->role, "Worker");
  EXPECT_EQ(meaning.fatal->index, 7);
}

// Worker 0 runs, Worker 1 was refused, Worker 2 is one too many.
Decision decide_after(Refusal refusal, plan::Limits limits = {}) {
  const auto plan = JobBuilder().workers(2).all_workers_decide().limits(limits).build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), pod("Worker", 2, PodPhase::Running)};
  observed.refusals = {std::move(refusal)};
  return decide(plan, observed, kStart);
}

TEST(AfterARefusal, AWaitingJobMakesNothingAndStillGivesBackWhatIsTooMany) {
  const Decision decision = decide_after(refused(ErrorCode::Forbidden, kQuota));
  EXPECT_EQ(decision.verdict.phase, Phase::Running);
  EXPECT_EQ(decision.verdict.waiting_for, kQuota);
  EXPECT_THAT(created_pods(decision), IsEmpty());
  EXPECT_THAT(deleted_pods(decision), ElementsAre("bert-worker-2")) << "this may free the quota";
  EXPECT_EQ(decision.wake_at, kStart + 5s);
}

TEST(AfterARefusal, TheDeadlineIsNotSleptThrough) {
  const Decision decision =
      decide_after(refused(ErrorCode::Forbidden, kQuota), {.deadline_seconds = 3});
  EXPECT_EQ(decision.wake_at, kStart + 3s);
}

TEST(AfterARefusal, InANamespaceThatGoesNothingIsMadeOrWaitedFor) {
  const Decision decision = decide_after(refused(ErrorCode::Forbidden, kNamespaceGoes));
  EXPECT_EQ(decision.verdict.phase, Phase::Running);
  EXPECT_EQ(decision.verdict.waiting_for, "");
  EXPECT_THAT(created_pods(decision), IsEmpty());
  EXPECT_FALSE(decision.wake_at);
}

TEST(AfterARefusal, OurOwnPodThatTheCacheDidNotShowYetIsNoTrouble) {
  const Decision decision = decide_after(refused(ErrorCode::AlreadyExists));
  EXPECT_EQ(decision.verdict.phase, Phase::Running);
  EXPECT_EQ(decision.verdict.waiting_for, "");
  EXPECT_THAT(created_pods(decision), ElementsAre("bert-worker-1"));
}

TEST(AfterARefusal, AFatalOneFailsTheJobAndCleansUp) {
  const Decision decision = decide_after(refused(ErrorCode::Forbidden, kPolicy));
  EXPECT_EQ(decision.verdict.phase, Phase::Failed);
  ASSERT_TRUE(decision.verdict.cause);
  EXPECT_EQ(decision.verdict.cause->kind, CauseKind::Rejected);
  EXPECT_EQ(decision.verdict.cause->text, kPolicy);
  EXPECT_EQ(decision.verdict.cause->at, kStart);
  EXPECT_THAT(created_pods(decision), IsEmpty());
  EXPECT_THAT(deleted_pods(decision), ElementsAre("bert-worker-0", "bert-worker-2"));
  EXPECT_TRUE(decision.commit_first) << "the reason is stored before the pods go";
}

TEST(AfterARefusal, WhatPodsDidIsTheJobsEndBeforeIt) {
  const auto plan = JobBuilder().workers(2).first_worker_decides().build();
  Observed observed = begun();
  observed.refusals = {refused(ErrorCode::Invalid)};
  observed.pods = {pod("Worker", 0, PodPhase::Succeeded, 0)};
  EXPECT_EQ(decide(plan, observed, kStart).verdict.phase, Phase::Succeeded);
  observed.pods = {pod("Worker", 0, PodPhase::Failed, 1)};
  const Decision failed = decide(plan, observed, kStart);
  EXPECT_EQ(failed.verdict.phase, Phase::Failed);
  EXPECT_EQ(failed.verdict.cause->kind, CauseKind::PodFailed);
}

}  // namespace
}  // namespace muster::engine
