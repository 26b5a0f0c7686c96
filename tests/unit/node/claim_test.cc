#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "unit/node/fixture.h"

namespace muster::node {
namespace {

using ::testing::HasSubstr;

class Claims : public NodeTest {
 protected:
  void create_pod(std::string_view source = R"({"claimName":"data"})") {
    create(
        PodBuilder("p")
            .spec("volumes", fmt::format(R"([{{"name":"v","persistentVolumeClaim":{}}}])", source))
            .container("main", "serve", R"({"volumeMounts":[{"name":"v","mountPath":"/data"}]})"));
  }
  void put_claim(const char* phase, const char* volume) {
    auto claim = parse(R"({"metadata":{"name":"data","namespace":"default"}})");
    claim["spec"]["volumeName"] = volume;
    claim["status"]["phase"] = phase;
    cluster.put(api::persistent_volume_claims(), claim);
  }
  void put_volume(std::string_view source) {
    auto volume = parse(R"({"metadata":{"name":"pv"}})");
    volume["spec"] = parse(source);
    cluster.put(api::persistent_volumes(), volume);
  }
  std::string message() { return status("p", "main")["state"]["waiting"]["message"].as_string(); }
  std::string hosted(const char* type = "Directory") {
    const auto path = directory.path() + "/pv";
    std::filesystem::create_directories(path);
    return fmt::format(R"({{"hostPath":{{"path":"{}","type":"{}"}}}})", path, type);
  }
  [[nodiscard]] const std::vector<Mount>& mounts() {
    return runtime.pods.begin()->second.processes.begin()->second.spec.mounts;
  }
};

TEST_F(Claims, APodWaitsForItsClaimAndSaysSoUntilItIsBound) {
  start();
  create_pod();
  loop.run_for(1s);
  EXPECT_EQ(phase("p"), "Pending");
  EXPECT_THAT(message(), HasSubstr("persistentvolumeclaim \"data\" not found"));
  EXPECT_THAT(event_message("FailedMount"), HasSubstr("persistentvolumeclaim \"data\" not found"));
  put_claim("Pending", "");
  loop.run_for(1s);
  EXPECT_THAT(message(), HasSubstr("persistentvolumeclaim \"data\" is not bound to a volume yet"));
  put_volume(hosted());
  put_claim("Bound", "pv");
  loop.run_for(5s);  // the next try
  EXPECT_EQ(phase("p"), "Running");
  ASSERT_EQ(mounts().size(), 1U);
  EXPECT_EQ(mounts()[0].source, directory.path() + "/pv");
  EXPECT_FALSE(mounts()[0].read_only);
}

TEST_F(Claims, ADirectoryThatIsGoneIsNotMadeAnew) {
  start();
  put_volume(R"({"hostPath":{"path":"/does/not/exist","type":"Directory"}})");
  put_claim("Bound", "pv");
  create_pod();
  loop.run_for(1s);
  EXPECT_THAT(message(), HasSubstr("/does/not/exist is not a Directory"));
}

TEST_F(Claims, LocalVolumesAndReadOnlyClaims) {
  start();
  std::filesystem::create_directories(directory.path() + "/pv");
  put_volume(fmt::format(R"({{"local":{{"path":"{}/pv"}}}})", directory.path()));
  put_claim("Bound", "pv");
  create_pod(R"({"claimName":"data","readOnly":true})");
  loop.run_for(1s);
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_TRUE(mounts()[0].read_only);
}

TEST_F(Claims, AVolumeOfAnotherTypeIsSaid) {
  start();
  put_volume(R"({"nfs":{"server":"s","path":"/"}})");
  put_claim("Bound", "pv");
  create_pod();
  loop.run_for(1s);
  EXPECT_THAT(message(), HasSubstr("it has hostPath and local"));
}

TEST_F(NodeTest, APodInTheHostsNetworkHasTheHostsName) {
  options.host_name = "Box";
  start();
  create(PodBuilder("p").spec("hostNetwork", "true").container("main", "serve"));
  create(PodBuilder("q").container("main", "serve"));
  loop.run_for(1s);
  const auto name_in = [this](const std::string& pod_name) {
    const auto& sandbox = runtime.pods.at(api::uid_of(*pod(pod_name)));
    for (const auto& [name, value] : sandbox.processes.begin()->second.spec.env) {
      if (name == "HOSTNAME") return sandbox.spec.hostname + " " + value;
    }
    return std::string("no HOSTNAME");
  };
  EXPECT_EQ(name_in("p"), "Box Box");
  EXPECT_EQ(name_in("q"), "q q");
  EXPECT_TRUE(runtime.pods.at(api::uid_of(*pod("p"))).spec.host_network);
  // Programs look their own name up.
  std::ifstream hosts(runtime.pods.at(api::uid_of(*pod("p"))).spec.hosts_file);
  const std::string text((std::istreambuf_iterator<char>(hosts)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, HasSubstr((*pod("p"))["status"]["podIP"].as_string() + "\tBox\n"));
}

}  // namespace
}  // namespace muster::node
