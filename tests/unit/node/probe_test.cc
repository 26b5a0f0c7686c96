#include "unit/node/fixture.h"

namespace muster::node {
namespace {

TEST(ProbeCounter, NeedsAsManyInARowAsItsThreshold) {
  ProbeCounter counter(2, 3);
  EXPECT_EQ(counter.add(false), std::nullopt);
  EXPECT_EQ(counter.add(false), std::nullopt);
  EXPECT_EQ(counter.add(true), std::nullopt) << "starts over";
  EXPECT_EQ(counter.add(true), std::optional(true));
  EXPECT_EQ(counter.add(true), std::optional(true));
  EXPECT_EQ(counter.add(false), std::nullopt);
  EXPECT_EQ(counter.add(false), std::nullopt);
  EXPECT_EQ(counter.add(false), std::optional(false));
}

TEST_F(NodeTest, ReadinessDecidesAboutReady) {
  start();
  create(PodBuilder("p").container("main", "serve",
                                   R"({"ports":[{"name":"rpc","containerPort":7000}],
          "readinessProbe":{"tcpSocket":{"port":"rpc"},"periodSeconds":2,"failureThreshold":2}})"));
  loop.run_for(3s);
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_EQ(condition("p", "Ready"), "False");
  EXPECT_TRUE(has_event("Unhealthy"));
  runtime.open_ports[7000] = true;
  loop.run_for(2s);
  EXPECT_EQ(condition("p", "Ready"), "True");
  runtime.open_ports[7000] = false;
  loop.run_for(2s);
  EXPECT_EQ(condition("p", "Ready"), "True") << "one failure is not enough";
  loop.run_for(2s);
  EXPECT_EQ(condition("p", "Ready"), "False");
}

TEST_F(NodeTest, LivenessRestartsTheContainer) {
  start();
  const auto uid = create(PodBuilder("p").container(
      "main", "serve",
      R"({"livenessProbe":{"exec":{"command":["alive"]},"periodSeconds":5,"failureThreshold":2}})"));
  loop.run_for(12s);
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
  runtime.exec_answers["alive"] = 1;
  loop.run_for(11s);
  EXPECT_EQ(runtime.starts_of(uid, "main"), 2);
  EXPECT_TRUE(runtime.did("signal 15 " + uid + "/main/0"));
  EXPECT_EQ(status("p", "main")["restartCount"].as_int(), 1);
}

TEST_F(NodeTest, HttpProbesReadTheStatus) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "serve", R"({
      "ports":[{"name":"web","containerPort":8000}],
      "readinessProbe":{"periodSeconds":2,"httpGet":{"port":"web","path":"healthz",
          "httpHeaders":[{"name":"X-A","value":"b"}]}}})"));
  runtime.http_answers[8000] = 503;
  loop.run_for(3s);
  EXPECT_EQ(condition("p", "Ready"), "False");
  EXPECT_EQ(event_message("Unhealthy"),
            "Readiness probe failed: HTTP probe failed with statuscode: 503");
  EXPECT_TRUE(runtime.did("get 10.222.0.2:8000/healthz X-A=b"));
  runtime.http_answers[8000] = 302;
  loop.run_for(2s);
  EXPECT_EQ(condition("p", "Ready"), "True");
}

TEST_F(NodeTest, ReadinessGatesKeepAPodFromBeingReady) {
  start();
  create(PodBuilder("p")
             .container("main", "serve")
             .spec("readinessGates", R"([{"conditionType":"example.org/balanced"}])"));
  loop.run_for(1s);
  EXPECT_EQ(condition("p", "Ready"), "False");
  EXPECT_EQ(condition("p", "ContainersReady"), "True");
  EXPECT_EQ(api::condition_of(*pod("p"), "Ready")["reason"].as_string(), "ReadinessGatesNotReady");
  auto changed = *pod("p");
  changed["status"]["conditions"].array().push_back(
      parse(R"({"type":"example.org/balanced","status":"True"})"));
  cluster.put(api::pods(), changed);
  loop.run_for(1s);
  EXPECT_EQ(condition("p", "Ready"), "True");
  EXPECT_EQ(condition("p", "example.org/balanced"), "True");
}

TEST_F(NodeTest, StartupHoldsTheOtherProbesBack) {
  start();
  runtime.exec_answers["up"] = 1;
  runtime.exec_answers["alive"] = 1;
  const auto uid = create(PodBuilder("p").container("main", "serve", R"({
      "startupProbe":{"exec":{"command":["up"]},"periodSeconds":1,"failureThreshold":30},
      "livenessProbe":{"exec":{"command":["alive"]},"periodSeconds":1,"failureThreshold":1}})"));
  loop.run_for(10s);
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
  EXPECT_FALSE(status("p", "main")["started"].as_bool());
  EXPECT_FALSE(runtime.did("exec " + uid + "/main: alive"));
  runtime.exec_answers["up"] = 0;
  runtime.exec_answers["alive"] = 0;
  loop.run_for(3s);
  EXPECT_TRUE(status("p", "main")["started"].as_bool());
  EXPECT_TRUE(runtime.did("exec " + uid + "/main: alive"));
}

TEST_F(NodeTest, AStartupThatNeverSucceedsRestarts) {
  start();
  runtime.exec_answers["up"] = 1;
  const auto uid = create(PodBuilder("p").container("main", "serve", R"({
      "startupProbe":{"exec":{"command":["up"]},"periodSeconds":1,"failureThreshold":3}})"));
  loop.run_for(5s);
  EXPECT_EQ(runtime.starts_of(uid, "main"), 2);
}

}  // namespace
}  // namespace muster::node
