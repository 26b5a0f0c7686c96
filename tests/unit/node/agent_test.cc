#include <filesystem>

#include "node/agent/gpus.h"
#include "node/agent/pod_range.h"
#include "node/agent/registration.h"
#include "unit/node/fixture.h"

namespace muster::node {
namespace {

TEST_F(NodeTest, RegistersItselfAndStaysAlive) {
  options.cpu_milli = 8000;
  options.memory_bytes = std::int64_t{16} << 30U;
  options.gpu_uuids = {"GPU-a", "GPU-b"};
  options.endpoint_port = 10250;
  options.labels = {{"zone", "z"}};
  start();
  const auto node = cluster.at(api::nodes(), "", "n1");
  ASSERT_TRUE(node);
  EXPECT_EQ(api::label_of(*node, "kubernetes.io/hostname"), "n1");
  EXPECT_EQ(api::label_of(*node, "zone"), "z");
  const auto& state = (*node)["status"];
  EXPECT_EQ(json::write(state["declaredFeatures"]), R"(["ExtendWebSocketsToKubelet"])");
  EXPECT_EQ(state["allocatable"]["cpu"].as_string(), "8");
  EXPECT_EQ(state["allocatable"]["nvidia.com/gpu"].as_string(), "2");
  EXPECT_EQ(state["capacity"]["pods"].as_string(), "110");
  EXPECT_EQ(state["daemonEndpoints"]["kubeletEndpoint"]["Port"].as_int(), 10250);
  EXPECT_EQ(state["addresses"][0]["address"].as_string(), "192.0.2.1");

  const auto lease_time = [this] {
    return (*cluster.at(api::leases(), "kube-node-lease", "n1"))["spec"]["renewTime"].as_string();
  };
  const auto ready = [this] {
    for (const auto& condition :
         (*cluster.at(api::nodes(), "", "n1"))["status"]["conditions"].as_array()) {
      if (condition["type"].as_string() == "Ready") return condition;
    }
    return json::Value();
  };
  const auto first_lease = lease_time();
  const auto first_ready = ready();
  EXPECT_EQ(first_ready["status"].as_string(), "True");
  loop.run_for(11s);
  EXPECT_NE(lease_time(), first_lease);
  loop.run_for(300s);
  EXPECT_NE(ready()["lastHeartbeatTime"], first_ready["lastHeartbeatTime"]);
  EXPECT_EQ(ready()["lastTransitionTime"], first_ready["lastTransitionTime"]);
}

TEST_F(NodeTest, KeepsWhatOthersWroteOnItsNode) {
  cluster.put(api::nodes(), parse(R"({"metadata":{"name":"n1","labels":{"mine":"1"}},
      "spec":{"podCIDR":"10.1.0.0/24"}})"));
  start();
  const auto node = cluster.at(api::nodes(), "", "n1");
  EXPECT_EQ(api::label_of(*node, "mine"), "1");
  EXPECT_EQ((*node)["spec"]["podCIDR"].as_string(), "10.1.0.0/24");
  EXPECT_EQ(api::label_of(*node, "kubernetes.io/os"), "linux");
}

TEST_F(NodeTest, ANewNodeHasItsTaintAndAnOldOneItsOwn) {
  options.taint = Taint{.key = "muster.dev/processes", .effect = "NoSchedule"};
  const auto taints = [this] {
    return json::write((*cluster.at(api::nodes(), "", "n1"))["spec"]["taints"]);
  };
  start();
  EXPECT_EQ(taints(), R"([{"key":"muster.dev/processes","effect":"NoSchedule"}])");
  auto node = *cluster.at(api::nodes(), "", "n1");
  node["spec"].object().erase("taints");
  cluster.put(api::nodes(), node);
  restart();
  EXPECT_EQ(taints(), "null") << "somebody took it away";
}

TEST(TaintText, IsKubectls) {
  const auto full = parse_taint("team=a:NoExecute");
  ASSERT_TRUE(full.has_value());
  EXPECT_EQ(full->key + "|" + full->value + "|" + full->effect, "team|a|NoExecute");
  EXPECT_EQ(parse_taint(kProcessesTaint)->key, "muster.dev/processes");
  EXPECT_EQ(parse_taint("team").error().message,
            "\"team\": the effect is missing; write KEY[=VALUE]:EFFECT, like "
            "muster.dev/processes:NoSchedule");
  EXPECT_FALSE(parse_taint("team:Never").has_value());
  EXPECT_FALSE(parse_taint(":NoSchedule").has_value());
  EXPECT_FALSE(parse_taint("te am:NoSchedule").has_value());
}

TEST_F(NodeTest, TheClustersPodRangeIsWaitedForAMoment) {
  Registration registration(loop, cluster, options, Logger());
  EXPECT_EQ(*loop.run(wait_for_pod_range(loop, registration)), "") << "nobody gives one";
  rt::Timer later(loop, 500ms, [this] {
    auto node = *cluster.at(api::nodes(), "", "n1");
    node["spec"]["podCIDR"] = "fd00::/64";
    node["spec"]["podCIDRs"] = json::Array{"fd00::/64", "10.1.7.0/24"};
    cluster.put(api::nodes(), node);
  });
  EXPECT_EQ(*loop.run(wait_for_pod_range(loop, registration)), "10.1.7.0/24");
}

TEST_F(NodeTest, TheLeaseComesBackWhenSomebodyDeletesIt) {
  start();
  cluster.erase(api::leases(), {.ns = "kube-node-lease", .name = "n1"});
  loop.run_for(15s);
  EXPECT_TRUE(cluster.at(api::leases(), "kube-node-lease", "n1"));
}

PodBuilder gpu_pod(const std::string& name, const char* command, int count) {
  return PodBuilder(name).restart("Never").container(
      "main", command,
      fmt::format(R"({{"resources":{{"limits":{{"nvidia.com/gpu":{}}}}}}})", count));
}

std::string variable(const ContainerSpec& spec, const std::string& name) {
  for (const auto& [key, value] : spec.env) {
    if (key == name) return value;
  }
  return "absent";
}

TEST_F(NodeTest, GpusAreExclusiveAndSurviveARestart) {
  options.gpu_uuids = {"GPU-a", "GPU-b", "GPU-c"};
  start();
  const auto one = create(gpu_pod("one", "run 60 0", 2));
  loop.run_for(1s);
  const auto two = create(gpu_pod("two", "run 60 0", 2));
  const auto none = create(PodBuilder("none").container("main", "serve"));
  loop.run_for(1s);
  EXPECT_EQ(variable(runtime.find(one, "main", 0)->spec, "CUDA_VISIBLE_DEVICES"), "GPU-a,GPU-b");
  EXPECT_EQ(variable(runtime.find(one, "main", 0)->spec, "NVIDIA_VISIBLE_DEVICES"), "GPU-a,GPU-b");
  EXPECT_EQ(variable(runtime.find(none, "main", 0)->spec, "CUDA_VISIBLE_DEVICES"), "");
  EXPECT_EQ(variable(runtime.find(none, "main", 0)->spec, "NCCL_HOSTID"), "n1");
  EXPECT_EQ(variable(runtime.find(one, "main", 0)->spec, "NCCL_HOSTID"), one);
  EXPECT_EQ(runtime.starts_of(two, "main"), 0) << "only one is free";
  restart();
  const auto three = create(gpu_pod("three", "serve", 1));
  loop.run_for(10s);
  EXPECT_EQ(variable(runtime.find(three, "main", 0)->spec, "CUDA_VISIBLE_DEVICES"), "GPU-c");
  EXPECT_EQ(runtime.starts_of(two, "main"), 0);
  loop.run_for(50s);
  ASSERT_EQ(phase("one"), "Succeeded");
  EXPECT_EQ(variable(runtime.find(two, "main", 0)->spec, "CUDA_VISIBLE_DEVICES"), "GPU-a,GPU-b")
      << "starts as soon as they are free";
}

TEST_F(NodeTest, ACrashLoopIsOneEventWithACount) {
  start();
  create(PodBuilder("p").container("main", "run 0 1"));
  loop.run_for(200s);
  int rows = 0;
  std::int64_t count = 0;
  for (const auto& event : cluster.all(api::events())) {
    if ((*event)["reason"].as_string() != "BackOff") continue;
    ++rows;
    count = (*event)["count"].as_int();
  }
  EXPECT_EQ(rows, 1);
  EXPECT_GE(count, 3);
}

TEST_F(NodeTest, MemoryVolumesLieInADirectoryOfOurOwnAndGoWithIt) {
  options.memory_directory = directory.path() + "/memory";
  start();
  const auto uid = create(
      PodBuilder("p")
          .restart("Never")
          .container("main", "run 60 0", R"j({"volumeMounts":[{"name":"m","mountPath":"/m"}]})j")
          .spec("volumes", R"j([{"name":"m","emptyDir":{"medium":"Memory"}}])j"));
  loop.run_for(5s);
  EXPECT_TRUE(std::filesystem::exists(options.memory_directory + "/secrets/" + uid + "/m"));
  loop.run_for(120s);
  EXPECT_FALSE(std::filesystem::exists(options.memory_directory + "/secrets/" + uid));
  stop();
  EXPECT_FALSE(std::filesystem::exists(options.memory_directory));
}

TEST_F(NodeTest, AMemoryDirectoryThatOthersCanWriteToIsNotUsed) {
  const auto open = directory.path() + "/memory";
  std::filesystem::create_directory(open);
  std::filesystem::permissions(open, std::filesystem::perms::all);
  options.memory_directory = open;
  start();
  create(PodBuilder("p")
             .container("main", "serve", R"j({"volumeMounts":[{"name":"m","mountPath":"/m"}]})j")
             .spec("volumes", R"j([{"name":"m","emptyDir":{"medium":"Memory"}}])j"));
  loop.run_for(5s);
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_TRUE(std::filesystem::is_empty(open));
}

TEST_F(NodeTest, ManyPodsAtOnce) {
  start();
  for (int i = 0; i < 200; ++i) {
    create(PodBuilder(fmt::format("p{}", i)).restart("Never").container("main", "run 0 0"));
  }
  loop.run_for(10s);
  for (int i = 0; i < 200; ++i) EXPECT_EQ(phase(fmt::format("p{}", i)), "Succeeded") << i;
  EXPECT_TRUE(runtime.pods.empty());
}

}  // namespace
}  // namespace muster::node
