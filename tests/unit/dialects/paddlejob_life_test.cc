// PaddleJobs as they live: their plans in the engine, and what the status and the events say of it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/write.h"
#include "life.h"
#include "paddle_support.h"

namespace muster::dialects::test {
namespace {

using api::PodPhase;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(PaddleLife, FromPendingOverTheBarrierToCompleted) {
  Life life(paddle("ps: 1, worker: 1"));
  life.look();
  EXPECT_EQ(life.phase(), "Pending");
  life.look();
  EXPECT_EQ(life.status()["ps"]["pending"].as_int(), 1);
  EXPECT_TRUE(life.status()["startTime"].is_null());
  EXPECT_TRUE(life.config().is_null()) << "nobody has an address";

  life.put("j-ps-0", PodPhase::Pending, "10.0.0.1");
  life.look();
  EXPECT_EQ(life.phase(), "Starting");
  EXPECT_TRUE(life.config().is_null()) << "one has";
  EXPECT_EQ(life.status()["ps"]["starting"].as_int(), 1);
  EXPECT_EQ(life.status()["worker"]["pending"].as_int(), 1);

  life.put("j-worker-0", PodPhase::Pending, "10.0.0.2");
  life.look();
  EXPECT_EQ(life.config()["PADDLE_TRAINER_ENDPOINTS"].as_string(), "10.0.0.2:38275");
  EXPECT_EQ(life.config()["PADDLE_PSERVERS_IP_PORT_LIST"].as_string(), "10.0.0.1:38275");

  life.all_run();
  life.look();
  EXPECT_EQ(life.phase(), "Running");
  const std::string started = life.status()["startTime"].as_string();
  EXPECT_FALSE(started.empty());
  EXPECT_EQ(life.status()["mode"].as_string(), "PS");

  life.put("j-worker-0", PodPhase::Succeeded);
  life.look();
  EXPECT_EQ(life.phase(), "Completed");
  EXPECT_EQ(life.status()["startTime"].as_string(), started);
  EXPECT_FALSE(life.status()["completionTime"].is_null());
  EXPECT_EQ(life.status()["ps"]["succeeded"].as_int(), 1) << "it did its part";
  EXPECT_THAT(life.pods(), IsEmpty());
  EXPECT_FALSE(life.config().is_null()) << "the ConfigMap stays";
  EXPECT_THAT(life.events(), ElementsAre("Completed: PaddleJob team/j completed"));
}

TEST(PaddleLife, StatusNamesThePodsOfARole) {
  Life life(paddle("worker: 2"));
  life.look();
  life.look();
  EXPECT_EQ(life.status()["worker"]["refs"],
            parse("[{apiVersion: v1, kind: Pod, namespace: team, name: j-worker-0, uid: uid-1},"
                  " {apiVersion: v1, kind: Pod, namespace: team, name: j-worker-1, uid: uid-2}]"));
  EXPECT_TRUE(life.status()["ps"].is_null());
  EXPECT_EQ(life.status()["mode"].as_string(), "Collective");
  Life alone(paddle("worker: 1"));
  alone.look();
  EXPECT_EQ(alone.status()["mode"].as_string(), "Single");
}

TEST(PaddleLife, TheStatusOfALargeJobFitsAnObject) {
  Life life(paddle("ps: 3000, worker: 4000, heter: 3000"));
  life.look();
  life.look();
  const std::string text = json::write(life.status());
  EXPECT_LT(text.size(), 400U << 10U);
  EXPECT_EQ(life.status()["worker"]["pending"].as_int(), 4000);
  EXPECT_EQ(life.status()["worker"]["refs"].as_array().size(), 500U);
}

TEST(PaddleLife, APhaseThatNobodyDescribesIsKept) {
  Life life(paddle("worker: 2"));
  life.look();
  life.all_run();
  life.look();
  life.put("j-worker-0", PodPhase::Succeeded);
  life.look();
  EXPECT_EQ(life.phase(), "Running");
}

TEST(PaddleLife, ElasticPeersStayWhenOthersComeAndGo) {
  Life life(paddle("worker: 2", "elastic: 1"));
  life.look();
  life.all_run();
  life.look();
  const auto first = life.observed().pods[0].uid;
  life.edit(paddle("worker: 4", "elastic: 1"));
  life.look();
  life.look();
  EXPECT_THAT(life.pods(), ElementsAre("j-worker-0", "j-worker-1", "j-worker-2", "j-worker-3"));
  EXPECT_EQ(life.observed().pods[0].uid, first);
  life.edit(paddle("worker: 3", "elastic: 1"));
  life.look();
  EXPECT_THAT(life.pods(), ElementsAre("j-worker-0", "j-worker-1", "j-worker-2"));
  EXPECT_EQ(life.observed().pods[0].uid, first);
  EXPECT_EQ(life.observed().ledger.epoch, 0);
}

TEST(PaddleLife, AnElasticRankThatTheClusterTookAwayIsMadeAnew) {
  Life life(paddle("worker: 2", "elastic: 1"));
  life.look();
  life.all_run();
  life.look();
  life.put("j-worker-1", PodPhase::Failed);
  life.observed().pods[1].disruption_target = true;
  life.look();
  EXPECT_NE(life.phase(), "Failed");
  life.look();
  EXPECT_THAT(life.pods(), ElementsAre("j-worker-0", "j-worker-1"));
}

TEST(PaddleLife, BeingDeletedItIsTerminatingUnlessItHasEnded) {
  Life life(paddle("worker: 1"));
  life.look();
  life.all_run();
  life.look();
  life.observed().deleting = true;
  life.look();
  EXPECT_EQ(life.phase(), "Terminating");
  Life over(paddle("worker: 1"));
  over.look();
  over.put("j-worker-0", PodPhase::Succeeded);
  over.look();
  over.observed().deleting = true;
  over.look();
  EXPECT_EQ(over.phase(), "Completed");
}

TEST(PaddleLife, ServersThatDoNotEndAreStoppedUnderEveryPolicy) {
  for (const char* policy : {"", "Always", "Never", "OnFailure", "OnCompletion"}) {
    auto job = paddle("ps: 1, worker: 1, heter: 1");
    job["spec"]["cleanPodPolicy"] = policy;
    Life life(job);
    life.look();
    life.all_run();
    life.look();
    life.put("j-worker-0", PodPhase::Succeeded);
    life.look();
    EXPECT_EQ(life.phase(), "Completed") << policy;
    const bool keeps = policy == std::string("Never") || policy == std::string("OnFailure");
    EXPECT_THAT(life.pods(),
                keeps ? testing::Matcher<std::vector<std::string>>(ElementsAre("j-worker-0"))
                      : testing::Matcher<std::vector<std::string>>(IsEmpty()))
        << policy;
  }
}

TEST(PaddleLife, APhaseOfTheStatusIsOneThatAllKindsShare) {
  using plan::Phase;
  const auto phase = [](const char* text) { return paddlejob().phase_of(parse(text)).phase; };
  EXPECT_EQ(phase("{}"), Phase::Created);
  EXPECT_EQ(phase("{phase: Pending}"), Phase::Created);
  EXPECT_EQ(phase("{phase: Starting}"), Phase::Created);
  EXPECT_EQ(phase("{phase: Running}"), Phase::Running);
  EXPECT_EQ(phase("{phase: Completed}"), Phase::Succeeded);
  EXPECT_EQ(phase("{phase: Failed}"), Phase::Failed);
  EXPECT_EQ(phase("{phase: Terminating}"), Phase::Created);
}

TEST(PaddleQuirks, PD1_ThePhaseIsThatOfWhatWasSeenJustNow) {
  Life life(paddle("worker: 1"));
  life.look();
  life.all_run();
  life.look();
  EXPECT_EQ(life.phase(), "Running");
  life.put("j-worker-0", PodPhase::Failed);
  life.look();
  EXPECT_EQ(life.phase(), "Failed");
}

TEST(PaddleQuirks, PD2_AFailureIsSeenWhateverTheOthersDo) {
  for (const char* failed : {"j-ps-0", "j-worker-0", "j-heter-0"}) {
    Life life(paddle("ps: 1, worker: 1, heter: 1"));
    life.look();
    life.put(failed, PodPhase::Failed);
    life.look();
    EXPECT_EQ(life.phase(), "Failed") << failed;
    EXPECT_THAT(life.events(), Contains(fmt::format("Failed: PaddleJob team/j failed: pod {} "
                                                    "exited with code 3",
                                                    failed)));
  }
}

TEST(PaddleQuirks, PD3_APodThatCouldNotBeMadeIsTriedAgain) {
  Life life(paddle("worker: 1"));
  life.observed().refusals = {
      {.kind = "Pod",
       .name = "j-worker-0",
       .role = "worker",
       .index = 0,
       .error = {.code = ErrorCode::Forbidden, .message = "exceeded quota: pods"}}};
  const auto refused = life.look();
  EXPECT_TRUE(refused.wake_at.has_value());
  EXPECT_THAT(life.pods(), IsEmpty());
  life.observed().refusals.clear();
  life.look();
  EXPECT_THAT(life.pods(), ElementsAre("j-worker-0"));
}

TEST(PaddleQuirks, PD9_TheStatusSaysOfWhichSpecItIs) {
  Life life(paddle("worker: 1"));
  life.look();
  EXPECT_EQ(life.status()["observedGeneration"].as_int(), 1);
  life.edit(paddle("worker: 2"));
  life.look();
  EXPECT_EQ(life.status()["observedGeneration"].as_int(), 2);
}

TEST(PaddleQuirks, PD10_ScalingRestartsAllWithANewConfigMap) {
  Life life(paddle("worker: 2"));
  life.look();
  life.all_run();
  life.look();
  life.look();
  EXPECT_EQ(life.config()["PADDLE_TRAINERS"].as_string(), "10.0.0.1,10.0.0.2");
  const std::string started = life.status()["startTime"].as_string();
  life.edit(paddle("worker: 3"));
  const auto decision = life.look();
  EXPECT_TRUE(decision.commit_first);
  EXPECT_THAT(life.pods(), IsEmpty());
  EXPECT_TRUE(life.config().is_null());
  EXPECT_EQ(life.phase(), "Pending");
  EXPECT_THAT(life.events(),
              ElementsAre("Restarted: PaddleJob team/j begins again with worker=3: every pod knows "
                          "all the others, so all of them are made anew"));
  life.look();
  EXPECT_EQ(life.pods().size(), 3U);
  EXPECT_TRUE(life.config().is_null());
  life.all_run();
  life.look();
  life.look();
  EXPECT_EQ(life.config()["PADDLE_TRAINERS"].as_string(), "10.0.0.1,10.0.0.2,10.0.0.3");
  EXPECT_EQ(life.config()["PADDLE_TRAINERS_NUM"].as_string(), "3");
  EXPECT_EQ(life.phase(), "Running");
  EXPECT_EQ(life.status()["startTime"].as_string(), started) << "it started when it first ran";
}

TEST(PaddleQuirks, PD18_AfterTheEndNothingIsMadeAgain) {
  Life life(paddle("worker: 1", "cleanPodPolicy: Never"));
  life.look();
  life.put("j-worker-0", PodPhase::Succeeded);
  life.look();
  EXPECT_EQ(life.phase(), "Completed");
  life.take_away("j-worker-0");
  life.look();
  EXPECT_THAT(life.pods(), IsEmpty());
  EXPECT_EQ(life.status()["worker"]["succeeded"].as_int(), 1);
  EXPECT_EQ(life.status()["worker"]["refs"].as_array().size(), 1U);
}

}  // namespace
}  // namespace muster::dialects::test
