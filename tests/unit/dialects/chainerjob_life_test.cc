// ChainerJobs as they live: their plans in the engine, and what status and events say of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chainer_support.h"
#include "life.h"

namespace muster::dialects::test {
namespace {

using api::PodPhase;
using std::chrono::seconds;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// "Complete=True CompletionsReached"
std::vector<std::string> conditions(const Life& life) {
  std::vector<std::string> out;
  for (const json::Value& each : life.status()["conditions"].as_array()) {
    out.push_back(each["type"].as_string() + "=" + each["status"].as_string() + " " +
                  each["reason"].as_string());
  }
  return out;
}

std::vector<std::string> masters(const Life& life) {
  std::vector<std::string> out = life.pods();
  std::erase_if(out, [](const std::string& name) { return !name.starts_with("j-master-"); });
  return out;
}

// The newest is the one that lives.
std::string living_master(Life& life) {
  for (const engine::PodView& pod : life.observed().pods) {
    if (pod.role == "master" && !api::is_finished(pod.phase)) return pod.name;
  }
  return "";
}

// Until all pods are there: the key goes before them.
Life started(const json::Value& job) {
  Life life(job);
  life.look();
  life.look();
  life.all_run();
  life.look();
  return life;
}

void fail_master(Life& life) {
  life.put(living_master(life), PodPhase::Failed);
  life.look();
  life.pass(seconds(1000));  // longer than any pause between tries
  life.look();
}

TEST(ChainerLife, TheKeyIsMadeBeforeAnyPod) {
  Life life(chainer("a: 2"));
  life.look();
  EXPECT_THAT(life.pods(), IsEmpty());
  EXPECT_THAT(life.observed().secrets, ElementsAre("j-mpi-7d7b0f3e-0001"));
  life.look();
  EXPECT_THAT(life.pods(), SizeIs(3));
}

TEST(ChainerLife, FailsTwiceAndSucceedsAtTheThirdTry) {
  Life life = started(chainer("a: 2"));
  EXPECT_EQ(life.status()["active"].as_int(), 1);
  EXPECT_TRUE(life.status()["startTime"].is_string());
  fail_master(life);
  EXPECT_THAT(masters(life), SizeIs(2)) << "the failed one stays, the next has another name";
  EXPECT_EQ(life.status()["failed"].as_int(), 1);
  life.put(living_master(life), PodPhase::Running);
  fail_master(life);
  EXPECT_THAT(masters(life), SizeIs(3));
  life.put(living_master(life), PodPhase::Succeeded);
  life.look();
  EXPECT_THAT(conditions(life), ElementsAre("Complete=True CompletionsReached"));
  EXPECT_EQ(life.status()["succeeded"].as_int(), 1);
  EXPECT_EQ(life.status()["failed"].as_int(), 2);
  EXPECT_TRUE(life.status()["active"].is_null());
  EXPECT_TRUE(life.status()["completionTime"].is_string());
  EXPECT_TRUE(life.status()["conditions"][0]["lastProbeTime"].is_string());
}

TEST(ChainerLife, CH11_WorkersAreDeletedWhenTheMasterHasEnded) {
  for (const PodPhase end : {PodPhase::Succeeded, PodPhase::Failed}) {
    Life life = started(chainer("a: 2, b: 1", "backoffLimit: 0"));
    ASSERT_THAT(life.pods(), SizeIs(4));
    life.put(living_master(life), end);
    life.look();
    EXPECT_THAT(life.pods(), ElementsAre(StartsWith("j-master-")));
  }
}

TEST(ChainerLife, TheLimitCountsMastersAndNotWorkers) {
  Life life = started(chainer("a: 2", "backoffLimit: 1"));
  life.restart_in_place("j-workerset-a-0", 50);
  life.look();
  EXPECT_THAT(conditions(life), IsEmpty());
  fail_master(life);
  EXPECT_THAT(conditions(life), IsEmpty());
  life.put(living_master(life), PodPhase::Failed);
  life.look();
  EXPECT_THAT(conditions(life), ElementsAre("Failed=True BackoffLimitExceeded"));
  EXPECT_EQ(life.status()["failed"].as_int(), 2);
  EXPECT_TRUE(life.status()["completionTime"].is_null());
  EXPECT_THAT(life.events(), Contains(StartsWith("BackoffLimitExceeded: ")));
}

TEST(ChainerLife, AWorkerThatIsLostIsMadeAgainUnderItsName) {
  Life life = started(chainer("a: 2"));
  life.put("j-workerset-a-1", PodPhase::Failed);
  life.look();
  life.pass(seconds(10));
  life.look();
  EXPECT_THAT(life.pods(), Contains("j-workerset-a-1"));
  EXPECT_EQ(life.status()["active"].as_int(), 1) << "the master goes on";
  EXPECT_TRUE(life.status()["failed"].is_null());
  life.take_away("j-workerset-a-0");
  life.look();
  EXPECT_THAT(life.pods(), Contains("j-workerset-a-0"));
}

TEST(ChainerLife, TheDeadlineEndsIt) {
  Life life = started(chainer("a: 1", "activeDeadlineSeconds: 60"));
  life.pass(seconds(60));
  life.look();
  EXPECT_THAT(conditions(life), ElementsAre("Failed=True DeadlineExceeded"));
  EXPECT_THAT(life.pods(), IsEmpty());
}

TEST(ChainerLife, WhatTheAgentRemarksIsInTheMessage) {
  Life life = started(chainer("a: 1"));
  life.put(living_master(life), PodPhase::Succeeded);
  life.leave_message(living_master(life).empty() ? masters(life)[0] : "",
                     "muster: j-workerset-a-0 ran no rank\n");
  life.look();
  EXPECT_EQ(life.status()["conditions"][0]["message"],
            "Reached expected number of succeeded pods; j-workerset-a-0 ran no rank");
  EXPECT_THAT(life.events(), Contains(HasSubstr("j-workerset-a-0 ran no rank")));
}

TEST(ChainerLife, SuspendedByItsAnnotation) {
  const json::Value job = chainer("a: 2");
  Life life = started(job);
  json::Value held = job;
  held["metadata"]["annotations"]["muster.dev/suspend"] = "true";
  life.edit(held);
  life.look();
  life.look();
  EXPECT_THAT(life.pods(), IsEmpty());
  EXPECT_THAT(conditions(life), ElementsAre("Suspended=True JobSuspended"));
  life.edit(job);
  life.look();
  life.look();
  EXPECT_THAT(life.pods(), SizeIs(3));
  EXPECT_THAT(conditions(life), ElementsAre("Suspended=False JobResumed"));
}

TEST(ChainerLife, AnEditOfASetIsInTheHostFileBeforeAPodReadsIt) {
  Life life = started(chainer("a: 1"));
  EXPECT_EQ(life.config()["hostfile"], "j-workerset-a-0 slots=1\n");
  life.edit(chainer("a: 2"));
  life.look();
  EXPECT_TRUE(life.config().is_null()) << "the old one goes first";
  EXPECT_THAT(life.pods(), SizeIs(2));
  life.look();
  life.look();
  EXPECT_EQ(life.config()["hostfile"], "j-workerset-a-0 slots=1\nj-workerset-a-1 slots=1\n");
  EXPECT_THAT(life.pods(), SizeIs(3));
}

TEST(ChainerLife, ASetThatIsTakenOutLosesItsWorkers) {
  Life life = started(chainer("a: 1, b: 2"));
  life.edit(chainer("a: 1"));
  life.look();
  life.look();
  EXPECT_THAT(life.pods(), ElementsAre(StartsWith("j-master-"), "j-workerset-a-0"));
}

TEST(ChainerLife, CH2_WhatTheServerRefusedForNowIsTriedAgain) {
  Life life(chainer("a: 1"));
  life.look();
  life.observed().refusals = {
      {.kind = "Pod",
       .name = "j-workerset-a-0",
       .error = {.code = ErrorCode::Forbidden, .message = "exceeded quota: pods"}}};
  const engine::Decision waits = life.look();
  EXPECT_TRUE(waits.wake_at.has_value());
  life.observed().refusals.clear();
  life.look();
  EXPECT_THAT(life.pods(), SizeIs(2));
}

TEST(ChainerLife, ANameThatIsTakenHasTheOriginalsReason) {
  Life life(chainer("a: 1"));
  life.observed().refusals = {{.kind = "ConfigMap",
                               .name = "j-assets",
                               .error = {.code = ErrorCode::AlreadyExists},
                               .foreign = true}};
  life.look();
  EXPECT_THAT(conditions(life), ElementsAre("Failed=True FailedCreate"));
  EXPECT_THAT(life.events(),
              Contains(AllOf(StartsWith("ErrResourceExists: "), HasSubstr("j-assets"))));
}

}  // namespace
}  // namespace muster::dialects::test
