#include "unit/node/fixture.h"

#include "api/waiting.h"

namespace muster::node {
namespace {

TEST_F(NodeTest, RunsAPodToItsEnd) {
  start();
  const auto uid = create(PodBuilder("p").restart("Never").container("main", "run 5 0"));
  loop.run_for(1s);
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_EQ(condition("p", "Ready"), "True");
  EXPECT_EQ(condition("p", "PodReadyToStartContainers"), "True");
  EXPECT_EQ((*pod("p"))["status"]["podIP"].as_string(), "10.222.0.2");
  EXPECT_EQ((*pod("p"))["status"]["podIPs"][0]["ip"].as_string(), "10.222.0.2");
  EXPECT_EQ((*pod("p"))["status"]["hostIP"].as_string(), "192.0.2.1");
  EXPECT_EQ((*pod("p"))["status"]["qosClass"].as_string(), "BestEffort");
  EXPECT_EQ(status("p", "main")["containerID"].as_string(), "muster://" + uid + "/main/0");
  EXPECT_TRUE(status("p", "main")["started"].as_bool());

  loop.run_for(5s);
  EXPECT_EQ(phase("p"), "Succeeded");
  EXPECT_EQ(condition("p", "Ready"), "False");
  EXPECT_EQ(status("p", "main")["state"]["terminated"]["reason"].as_string(), "Completed");
  EXPECT_EQ(status("p", "main")["state"]["terminated"]["exitCode"].as_int(-1), 0);
  EXPECT_TRUE(has_event("Started"));
  EXPECT_TRUE(runtime.pods.empty()) << "a finished pod leaves no sandbox";
  EXPECT_LE(cluster.status_writes, 4) << "changes that come together are one write";
}

TEST_F(NodeTest, AFinishedPodHasNoWorkerUntilItIsDeleted) {
  start();
  const auto uid = create(PodBuilder("p").restart("Never").container("main", "run 1 3"));
  loop.run_for(500ms);
  EXPECT_EQ(agent->pods(), 1U);
  loop.run_for(3s);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ(agent->pods(), 0U);
  auto labelled = *pod("p");
  labelled["metadata"]["labels"]["seen"] = "yes";
  cluster.put(api::pods(), std::move(labelled));
  loop.run_for(1s);
  EXPECT_EQ(agent->pods(), 0U);
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
  ASSERT_NE(agent->find_pod({.ns = "default", .name = "p"}), nullptr) << "for its logs";
  cluster.request_deletion("default", "p", 30);
  loop.run_for(1s);
  EXPECT_EQ(phase("p"), "gone");
  EXPECT_EQ(agent->pods(), 0U);
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
}

TEST_F(NodeTest, FilesLostWithEveryRunAreToldWithTheEnd) {
  runtime.written["/home/me"] = 3;
  start();
  create(
      PodBuilder("p").restart("OnFailure").container("main", "run 1 0").submitted_from("/home/me"));
  create(
      PodBuilder("q").restart("Never").container("main", "run 1 0").submitted_from("/elsewhere"));
  create(PodBuilder("r").restart("Never").container("main", "run 1 0"));
  loop.run_for(3s);
  EXPECT_EQ((*pod("p"))["status"]["muster"]["lostFiles"].as_int(), 3);
  EXPECT_TRUE((*pod("q"))["status"]["muster"].is_null());
  EXPECT_TRUE((*pod("r"))["status"]["muster"].is_null());
}

TEST_F(NodeTest, NeverMeansFailedAfterANonZeroExit) {
  start();
  const auto uid = create(PodBuilder("p").restart("Never").container("main", "run 1 3"));
  loop.run_for(600s);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ(status("p", "main")["state"]["terminated"]["exitCode"].as_int(), 3);
  EXPECT_EQ(status("p", "main")["state"]["terminated"]["reason"].as_string(), "Error");
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
}

TEST_F(NodeTest, OnFailureEndsWithTheFirstSuccess) {
  start();
  const auto good = create(PodBuilder("good").restart("OnFailure").container("main", "run 1 0"));
  const auto bad = create(PodBuilder("bad").restart("OnFailure").container("main", "run 1 1"));
  loop.run_for(3s);
  EXPECT_EQ(phase("good"), "Succeeded");
  EXPECT_EQ(runtime.starts_of(good, "main"), 1);
  EXPECT_EQ(phase("bad"), "Running");
  EXPECT_EQ(runtime.starts_of(bad, "main"), 2) << "the first restart comes at once";
}

TEST_F(NodeTest, AlwaysRestartsAfterSuccessToo) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "run 1 0"));
  loop.run_for(3s);
  EXPECT_EQ(runtime.starts_of(uid, "main"), 2);
  EXPECT_EQ(phase("p"), "Running");
}

TEST_F(NodeTest, BackOffDoublesFromTenSecondsToFiveMinutes) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "run 0 1"));
  loop.run_for(1s);
  ASSERT_EQ(runtime.starts_of(uid, "main"), 2);
  EXPECT_EQ(waiting("p", "main"), "CrashLoopBackOff");
  EXPECT_EQ(status("p", "main")["restartCount"].as_int(), 1);
  EXPECT_EQ(status("p", "main")["lastState"]["terminated"]["exitCode"].as_int(), 1);
  int expected = 2;
  for (const auto delay : {10s, 20s, 40s, 80s, 160s, 300s, 300s}) {
    loop.run_for(delay - 2s);
    EXPECT_EQ(runtime.starts_of(uid, "main"), expected) << "not before " << delay.count() << " s";
    loop.run_for(2s);
    EXPECT_EQ(runtime.starts_of(uid, "main"), ++expected) << "after " << delay.count() << " s";
  }
  EXPECT_TRUE(has_event("BackOff"));
}

TEST_F(NodeTest, BackOffIsForgottenAfterTenCleanMinutes) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "run 601 1"));
  loop.run_for(602s * 4);
  EXPECT_EQ(runtime.starts_of(uid, "main"), 5) << "every restart comes at once";
}

TEST_F(NodeTest, InitContainersRunInOrderBeforeTheOthers) {
  start();
  const auto uid = create(PodBuilder("p")
                              .restart("Never")
                              .init("one", "run 2 0")
                              .init("two", "run 2 0")
                              .container("main", "run 2 0"));
  loop.run_for(1s);
  EXPECT_EQ(condition("p", "Initialized"), "False");
  EXPECT_EQ(waiting("p", "main"), "PodInitializing");
  EXPECT_EQ(phase("p"), "Pending");
  loop.run_for(4s);
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_EQ(condition("p", "Initialized"), "True");
  loop.run_for(2s);
  EXPECT_EQ(phase("p"), "Succeeded");
  const std::vector<std::string> expected{"start " + uid + "/one/0",  "discard " + uid + "/one/0",
                                          "start " + uid + "/two/0",  "discard " + uid + "/two/0",
                                          "start " + uid + "/main/0", "remove " + uid};
  EXPECT_EQ(runtime.history, expected);
}

TEST_F(NodeTest, AFailedInitContainerFailsAPodThatNeverRestarts) {
  start();
  const auto uid =
      create(PodBuilder("p").restart("Never").init("one", "run 1 2").container("main", "run 1 0"));
  loop.run_for(60s);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ(runtime.starts_of(uid, "main"), 0);
}

TEST_F(NodeTest, ASidecarRunsBesideTheOthersAndEndsAfterThem) {
  start();
  const auto uid = create(PodBuilder("p")
                              .restart("Never")
                              .init("proxy", "serve", R"({"restartPolicy":"Always"})")
                              .container("main", "run 3 0"));
  loop.run_for(1s);
  EXPECT_EQ(phase("p"), "Running");
  loop.run_for(4s);
  EXPECT_EQ(phase("p"), "Succeeded");
  EXPECT_TRUE(runtime.did("signal 15 " + uid + "/proxy/0"));
}

TEST_F(NodeTest, DeletionWaitsForTheGracePeriodAndThenKills) {
  start();
  const auto polite = create(PodBuilder("polite").container("main", "serve"));
  const auto stubborn = create(PodBuilder("stubborn").container("main", "stubborn"));
  loop.run_for(1s);
  cluster.request_deletion("default", "polite", 30);
  cluster.request_deletion("default", "stubborn", 30);
  loop.run_for(2s);
  EXPECT_EQ(phase("polite"), "gone");
  EXPECT_TRUE(runtime.did("signal 15 " + polite + "/main/0"));
  EXPECT_EQ(phase("stubborn"), "Running");
  EXPECT_FALSE(runtime.did("kill " + stubborn + "/main/0"));
  loop.run_for(30s);
  EXPECT_EQ(phase("stubborn"), "gone");
  EXPECT_TRUE(runtime.did("kill " + stubborn + "/main/0"));
  EXPECT_TRUE(runtime.pods.empty());
  EXPECT_EQ(agent->pods(), 0U);
  EXPECT_TRUE(has_event("Killing"));
}

TEST_F(NodeTest, AShorterGracePeriodCountsFromThenOn) {
  start();
  create(PodBuilder("p").container("main", "stubborn"));
  loop.run_for(1s);
  cluster.request_deletion("default", "p", 3600);
  loop.run_for(5s);
  cluster.request_deletion("default", "p", 1);
  loop.run_for(3s);
  EXPECT_EQ(phase("p"), "gone");
}

TEST_F(NodeTest, PreStopRunsBeforeTheSignal) {
  start();
  const auto uid = create(PodBuilder("p").container(
      "main", "serve", R"({"lifecycle":{"preStop":{"exec":{"command":["drain"]}}}})"));
  loop.run_for(1s);
  cluster.request_deletion("default", "p", 30);
  loop.run_for(2s);
  const std::vector<std::string> expected{"start " + uid + "/main/0",
                                          "exec " + uid + "/main: drain",
                                          "signal 15 " + uid + "/main/0", "remove " + uid};
  EXPECT_EQ(runtime.history, expected);
}

TEST_F(NodeTest, PreStopCountsInTheGracePeriod) {
  start();
  const auto uid = create(PodBuilder("p").container(
      "main", "stubborn", R"({"lifecycle":{"preStop":{"sleep":{"seconds":6}}}})"));
  loop.run_for(1s);
  cluster.request_deletion("default", "p", 10);
  loop.run_for(5s);
  EXPECT_FALSE(runtime.did("signal 15 " + uid + "/main/0"));
  loop.run_for(2s);
  EXPECT_TRUE(runtime.did("signal 15 " + uid + "/main/0"));
  EXPECT_EQ(phase("p"), "Running");
  loop.run_for(4s);
  EXPECT_EQ(phase("p"), "gone") << "10 s in all, not 16";
}

TEST_F(NodeTest, PostStartRunsBeforeTheContainerCountsAsStarted) {
  start();
  const auto uid = create(PodBuilder("p").container(
      "main", "serve", R"({"lifecycle":{"postStart":{"sleep":{"seconds":5}}}})"));
  create(PodBuilder("q").container(
      "main", "serve", R"({"lifecycle":{"postStart":{"exec":{"command":["warm","up"]}}}})"));
  loop.run_for(2s);
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_EQ(condition("p", "Ready"), "False");
  EXPECT_FALSE(status("p", "main")["started"].as_bool());
  EXPECT_EQ(condition("q", "Ready"), "True");
  EXPECT_TRUE(runtime.did("exec " + api::uid_of(*pod("q")) + "/main: warm up"));
  loop.run_for(4s);
  EXPECT_EQ(condition("p", "Ready"), "True");
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
}

TEST_F(NodeTest, AFailedPostStartEndsTheContainer) {
  runtime.exec_answers["warm"] = 3;
  start();
  const auto uid = create(PodBuilder("p").restart("Never").container(
      "main", "serve", R"({"lifecycle":{"postStart":{"exec":{"command":["warm"]}}}})"));
  loop.run_for(2s);
  EXPECT_TRUE(runtime.did("signal 15 " + uid + "/main/0"));
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_TRUE(event_message("FailedPostStartHook").contains("exit 3"));
}

TEST_F(NodeTest, TheLastWordIsInTheApiBeforeThePodGoes) {
  start();
  create(PodBuilder("p").restart("Never").container("main", "serve"));
  loop.run_for(1s);
  std::string last;
  cluster.before_status_write = [&last](const json::Value& object) -> Result<void> {
    last = object["status"]["phase"].as_string();
    return {};
  };
  cluster.request_deletion("default", "p", 30);
  loop.run_for(2s);
  EXPECT_EQ(last, "Failed");
  EXPECT_EQ(phase("p"), "gone");
}

TEST_F(NodeTest, APodThatVanishesIsKilledAtOnce) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "stubborn"));
  loop.run_for(1s);
  cluster.erase(api::pods(), {.ns = "default", .name = "p"});
  loop.run_for(1s);
  EXPECT_TRUE(runtime.pods.empty());
  EXPECT_EQ(agent->pods(), 0U);
}

TEST_F(NodeTest, ANewPodOfTheSameNameIsAnotherPod) {
  start();
  const auto first = create(PodBuilder("p").container("main", "serve"));
  loop.run_for(1s);
  cluster.erase(api::pods(), {.ns = "default", .name = "p"});
  const auto second = create(PodBuilder("p").container("main", "serve"));
  loop.run_for(1s);
  ASSERT_NE(first, second);
  EXPECT_EQ(runtime.pods.size(), 1U);
  EXPECT_TRUE(runtime.pods.contains(second));
  EXPECT_EQ(phase("p"), "Running");
}

TEST_F(NodeTest, ActiveDeadlineFailsThePod) {
  start();
  create(PodBuilder("p").container("main", "serve").spec("activeDeadlineSeconds", "20"));
  loop.run_for(19s);
  EXPECT_EQ(phase("p"), "Running");
  loop.run_for(3s);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ((*pod("p"))["status"]["reason"].as_string(), "DeadlineExceeded");
}

// 317 years are more than a number of nanoseconds can hold.
TEST_F(NodeTest, DurationsBeyondAllTimeAreLongNotOver) {
  start();
  constexpr const char* kSlowProbe = R"({"livenessProbe":{"tcpSocket":{"port":80},
      "initialDelaySeconds":9999999999,"periodSeconds":9999999999,"timeoutSeconds":9999999999}})";
  const auto uid = create(PodBuilder("p")
                              .container("main", "stubborn", kSlowProbe)
                              .spec("activeDeadlineSeconds", "9999999999")
                              .spec("terminationGracePeriodSeconds", "9999999999"));
  loop.run_for(3600s);
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_EQ(status("p", "main")["restartCount"].as_int(), 0);
  EXPECT_FALSE(has_event("DeadlineExceeded"));
  EXPECT_FALSE(has_event("Unhealthy"));
  cluster.request_deletion("default", "p", 9'999'999'999);
  loop.run_for(3600s);
  EXPECT_FALSE(runtime.did("kill " + uid + "/main/0")) << "it has its grace period";
  EXPECT_EQ(phase("p"), "Running");
}

TEST_F(NodeTest, AProgramThatIsNotThereIs127AndFinal) {
  start();
  create(PodBuilder("p").restart("Never").container("main", "missing"));
  loop.run_for(1s);
  EXPECT_EQ(phase("p"), "Failed");
  const auto ended = status("p", "main")["state"]["terminated"];
  EXPECT_EQ(ended["exitCode"].as_int(), 127);
  EXPECT_EQ(ended["reason"].as_string(), "ContainerCannotRun");
}

TEST_F(NodeTest, OomAndTerminationMessageAreReported) {
  start();
  const auto uid = create(PodBuilder("p").restart("Never").container("main", "serve"));
  loop.run_for(1s);
  runtime.oom_next = true;
  runtime.message_next = "step 7";
  runtime.end(*runtime.find(uid, "main", 0), {.exit_code = 137, .signal = 9});
  loop.run_for(1s);
  const auto ended = status("p", "main")["state"]["terminated"];
  EXPECT_EQ(ended["reason"].as_string(), "OOMKilled");
  EXPECT_EQ(ended["message"].as_string(), "step 7");
  EXPECT_EQ(ended["exitCode"].as_int(), 137);
}

TEST_F(NodeTest, NoCommandAndNoImageNamesBothRemedies) {
  start();
  create(PodBuilder("p").container("main", ""));
  loop.run_for(1s);
  EXPECT_EQ(waiting("p", "main"), "CreateContainerConfigError");
  const auto message = status("p", "main")["state"]["waiting"]["message"].as_string();
  EXPECT_NE(message.find("give the container a command, or map the image in images.yaml"),
            std::string::npos)
      << message;
  const json::Value said = api::condition_of(*pod("p"), api::kCannotStart);
  EXPECT_EQ(said["status"].as_string(), "True");
  EXPECT_EQ(said["reason"].as_string(), api::cannot_start::kInvalidContainer);
  EXPECT_EQ(said["message"].as_string(), message);
}

TEST_F(NodeTest, AMissingConfigMapHoldsTheContainerUntilItExists) {
  start();
  const auto uid = create(PodBuilder("p").container(
      "main", "serve",
      R"({"env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"c","key":"k"}}}]})"));
  loop.run_for(1s);
  EXPECT_EQ(waiting("p", "main"), "CreateContainerConfigError");
  EXPECT_EQ(status("p", "main")["state"]["waiting"]["message"].as_string(),
            "configmap \"c\" not found");
  EXPECT_TRUE(api::condition_of(*pod("p"), api::kCannotStart).is_null()) << "it may come";
  EXPECT_FALSE((*pod("p"))["status"]["podIP"].as_string().empty()) << "others may wait for it";
  cluster.put(api::config_maps(),
              parse(R"({"metadata":{"name":"c","namespace":"default"},"data":{"k":"v"}})"));
  loop.run_for(100ms);
  EXPECT_EQ(phase("p"), "Running") << "starts on the event, not at the next try";
  const auto& env = runtime.find(uid, "main", 0)->spec.env;
  EXPECT_NE(std::find(env.begin(), env.end(), std::pair<std::string, std::string>("A", "v")),
            env.end());
}

TEST_F(NodeTest, AConfigMapThatComesWhileTheContainerIsAskedForIsNotMissed) {
  start();
  create(
      PodBuilder("p").container("main", "serve", R"({"envFrom":[{"configMapRef":{"name":"c"}}]})"));
  loop.run_for(1s);
  EXPECT_EQ(waiting("p", "main"), "CreateContainerConfigError");
  hold_disk();
  loop.run_for(10s);  // it is asked for again, and what it is made of was read
  cluster.put(api::config_maps(),
              parse(R"({"metadata":{"name":"c","namespace":"default"},"data":{"K":"v"}})"));
  loop.run_for(100ms);
  release_disk();
  loop.run_for(100ms);
  EXPECT_EQ(phase("p"), "Running");
}

TEST_F(NodeTest, AConfigMapThatComesWhileThePodIsPreparedIsNotMissed) {
  start();
  hold_disk();
  create(PodBuilder("p")
             .container("main", "serve", R"({"volumeMounts":[{"name":"v","mountPath":"/v"}]})")
             .spec("volumes", R"([{"name":"v","configMap":{"name":"c"}}])"));
  loop.run_for(1s);
  cluster.put(api::config_maps(),
              parse(R"({"metadata":{"name":"c","namespace":"default"},"data":{"k":"v"}})"));
  loop.run_for(100ms);
  release_disk();
  loop.run_for(100ms);
  EXPECT_EQ(phase("p"), "Running");
}

TEST_F(NodeTest, AMissingVolumeSourceHoldsThePodAndSaysSo) {
  start();
  create(PodBuilder("p")
             .container("main", "serve", R"({"volumeMounts":[{"name":"v","mountPath":"/v"}]})")
             .spec("volumes", R"([{"name":"v","configMap":{"name":"c"}}])"));
  loop.run_for(1s);
  EXPECT_EQ(waiting("p", "main"), "ContainerCreating");
  EXPECT_TRUE(has_event("FailedMount"));
  cluster.put(api::config_maps(),
              parse(R"({"metadata":{"name":"c","namespace":"default"},"data":{"k":"v"}})"));
  loop.run_for(100ms);
  EXPECT_EQ(phase("p"), "Running");
}

TEST_F(NodeTest, ASandboxThatCannotBeMadeIsTriedAgain) {
  runtime.sandbox_error = Error{.code = ErrorCode::Io, .message = "no bridge"};
  start();
  create(PodBuilder("p").container("main", "serve"));
  loop.run_for(3s);
  EXPECT_EQ(waiting("p", "main"), "ContainerCreating");
  EXPECT_TRUE(has_event("FailedCreatePodSandBox"));
  runtime.sandbox_error.reset();
  loop.run_for(40s);
  EXPECT_EQ(phase("p"), "Running");
}

TEST_F(NodeTest, AConflictIsReadAgainAndNothingIsLost) {
  start();
  int conflicts = 0;
  cluster.before_status_write = [&](const json::Value& object) -> Result<void> {
    if (++conflicts > 3) return {};
    auto touched = *cluster.at(api::pods(), "default", api::name_of(object));
    touched["metadata"]["annotations"]["n"] = fmt::format("{}", conflicts);
    cluster.put(api::pods(), touched);
    return {};
  };
  create(PodBuilder("p").restart("Never").container("main", "run 1 5"));
  loop.run_for(10s);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ(api::annotation_of(*pod("p"), "n"), "3");
  EXPECT_EQ(status("p", "main")["state"]["terminated"]["exitCode"].as_int(), 5);
}

}  // namespace
}  // namespace muster::node
