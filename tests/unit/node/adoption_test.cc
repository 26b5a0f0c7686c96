#include <filesystem>

#include "unit/node/fixture.h"

namespace muster::node {
namespace {

TEST_F(NodeTest, ARunningContainerIsAdoptedAndNotStartedAgain) {
  start();
  const auto uid = create(PodBuilder("p").restart("Never").container("main", "run 100 4"));
  loop.run_for(5s);
  restart();
  loop.run_for(5s);
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
  loop.run_for(100s);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ(status("p", "main")["state"]["terminated"]["exitCode"].as_int(), 4);
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
}

TEST_F(NodeTest, AnExitThatNobodySawIsNotLost) {
  start();
  const auto uid = create(PodBuilder("p").restart("Never").container("main", "run 10 6"));
  loop.run_for(5s);
  stop();
  loop.run_for(60s);
  EXPECT_EQ(phase("p"), "Running");
  start();
  loop.run_for(1s);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ(status("p", "main")["state"]["terminated"]["exitCode"].as_int(), 6);
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
  EXPECT_TRUE(runtime.pods.empty());
}

TEST_F(NodeTest, AFinishedPodIsNeverStartedAgain) {
  start();
  const auto uid = create(PodBuilder("p").restart("OnFailure").container("main", "run 1 0"));
  loop.run_for(5s);
  ASSERT_EQ(phase("p"), "Succeeded");
  restart();
  loop.run_for(600s);
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
  EXPECT_EQ(phase("p"), "Succeeded");
}

TEST_F(NodeTest, AFinishedPodNeedsNobodyAfterARestart) {
  start();
  const auto uid = create(PodBuilder("p").restart("Never").container("main", "run 1 0"));
  loop.run_for(5s);
  ASSERT_EQ(phase("p"), "Succeeded");
  stop();
  // As if the agent had died before it cleared them away.
  const auto volumes = directory.path() + "/volumes/" + uid;
  std::filesystem::create_directories(volumes);
  start();
  loop.run_for(1s);
  EXPECT_EQ(agent->pods(), 0U);
  EXPECT_FALSE(std::filesystem::exists(volumes));
  EXPECT_NE(agent->find_pod({.ns = "default", .name = "p"}), nullptr) << "its logs can be read";
  json::Value leaving = *pod("p");
  leaving["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:00Z";
  leaving["metadata"]["deletionGracePeriodSeconds"] = 30;
  cluster.put(api::pods(), leaving);
  loop.run_for(1s);
  EXPECT_EQ(phase("p"), "gone");
}

TEST_F(NodeTest, RestartCountsSurviveARestart) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "run 5 1"));
  loop.run_for(15s);  // in the back-off after its second end
  const auto before = status("p", "main")["restartCount"].as_int();
  ASSERT_GE(before, 1);
  restart();
  loop.run_for(1s);
  EXPECT_EQ(status("p", "main")["restartCount"].as_int(), before);
  loop.run_for(300s);
  EXPECT_GT(status("p", "main")["restartCount"].as_int(), before);
  // Every attempt ran once.
  std::set<std::string> seen;
  for (const auto& line : runtime.history) {
    if (line.starts_with("start " + uid)) EXPECT_TRUE(seen.insert(line).second) << line;
  }
}

TEST_F(NodeTest, AfterARebootThePolicyDecides) {
  start();
  const auto never = create(PodBuilder("never").restart("Never").container("main", "serve"));
  const auto always = create(PodBuilder("always").container("main", "serve"));
  loop.run_for(5s);
  stop();
  runtime.reboot();
  start();
  loop.run_for(5s);
  EXPECT_EQ(phase("never"), "Failed");
  EXPECT_EQ(runtime.starts_of(never, "main"), 1);
  EXPECT_EQ(phase("always"), "Running");
  EXPECT_EQ(runtime.starts_of(always, "main"), 2);
  EXPECT_EQ(status("always", "main")["lastState"]["terminated"]["reason"].as_string(),
            "ContainerStatusUnknown");
}

TEST_F(NodeTest, WhatTheApiSawRunningAndTheMachineForgotHasEnded) {
  start();
  const auto uid = create(PodBuilder("p").restart("Never").container("main", "serve"));
  loop.run_for(5s);
  stop();
  for (auto& [key, process] : runtime.pods[uid].processes) process.timer->cancel();
  runtime.pods.clear();
  start();
  loop.run_for(5s);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ(status("p", "main")["state"]["terminated"]["reason"].as_string(),
            "ContainerStatusUnknown");
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
}

// Its shim lives and cannot be understood: it may be running, so it is not run a second time.
TEST_F(NodeTest, AnUnknownPodIsReportedAndLeftAlone) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "serve"));
  loop.run_for(5s);
  stop();
  runtime.pods[uid].unknown = "its record cannot be read";
  start();
  loop.run_for(300s);
  EXPECT_EQ(phase("p"), "Running") << "the last that is known";
  EXPECT_EQ((*pod("p"))["status"]["reason"].as_string(), "SandboxUnknown");
  EXPECT_EQ((*pod("p"))["status"]["message"].as_string(), "its record cannot be read");
  EXPECT_EQ(event_message("SandboxUnknown"), "its record cannot be read");
  EXPECT_EQ(status("p", "main")["restartCount"].as_int(), 0);
  EXPECT_TRUE(status("p", "main")["state"]["running"].is_object());
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
  EXPECT_FALSE(runtime.did("remove " + uid));
}

TEST_F(NodeTest, AnUnknownPodIsEndedByItsDeletion) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "serve"));
  loop.run_for(5s);
  stop();
  runtime.pods[uid].unknown = "its record cannot be read";
  start();
  loop.run_for(5s);
  cluster.request_deletion("default", "p", 30);
  loop.run_for(5s);
  EXPECT_TRUE(runtime.did("remove " + uid));
  EXPECT_EQ(phase("p"), "gone");
  EXPECT_TRUE(runtime.pods.empty());
}

TEST_F(NodeTest, AnUnknownPodWhoseRecordCanBeReadAgainIsAsBefore) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "run 60 0"));
  loop.run_for(5s);
  stop();
  runtime.pods[uid].unknown = "its record cannot be read";
  start();
  loop.run_for(5s);
  stop();
  runtime.pods[uid].unknown.clear();
  start();
  loop.run_for(5s);
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_TRUE((*pod("p"))["status"]["reason"].is_null());
  EXPECT_TRUE((*pod("p"))["status"]["message"].is_null());
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
}

TEST_F(NodeTest, APodThatWasDeletedMeanwhileIsClearedAway) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "serve"));
  loop.run_for(5s);
  stop();
  cluster.erase(api::pods(), {.ns = "default", .name = "p"});
  start();
  loop.run_for(1s);
  EXPECT_TRUE(runtime.did("remove " + uid));
  EXPECT_TRUE(runtime.pods.empty());
}

TEST_F(NodeTest, AStopThatWasUnderWayGoesOn) {
  start();
  create(PodBuilder("p").container("main", "stubborn"));
  loop.run_for(5s);
  cluster.request_deletion("default", "p", 30);
  loop.run_for(5s);
  restart();
  loop.run_for(35s);
  EXPECT_EQ(phase("p"), "gone");
  EXPECT_TRUE(runtime.pods.empty());
}

// Every moment of a pod's life is a moment at which the agent may die.
TEST_F(NodeTest, RestartAtAnyMomentEndsTheSameWay) {
  for (int moment = 0; moment < 60; ++moment) {
    const auto name = fmt::format("p{}", moment);
    start();
    const auto uid = create(
        PodBuilder(name).restart("Never").init("first", "run 0 0").container("main", "run 0 7"));
    loop.run_for(std::chrono::microseconds(500) * moment);
    restart();
    loop.run_for(20s);
    EXPECT_EQ(phase(name), "Failed") << moment;
    EXPECT_EQ(status(name, "main")["state"]["terminated"]["exitCode"].as_int(), 7) << moment;
    EXPECT_EQ(runtime.starts_of(uid, "first"), 1) << moment;
    EXPECT_EQ(runtime.starts_of(uid, "main"), 1) << moment;
    EXPECT_FALSE(runtime.pods.contains(uid)) << moment;
    stop();
  }
}

}  // namespace
}  // namespace muster::node
