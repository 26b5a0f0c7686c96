#include <filesystem>
#include <fstream>

#include "node/disk/verdict.h"
#include "unit/node/fixture.h"

namespace muster::node {
namespace {

constexpr std::int64_t kMebi = std::int64_t{1} << 20U;

// --- what a pod may take

PodDiskUse used(std::int64_t layers, std::int64_t volume = 0, bool in_memory = false) {
  PodDiskUse use;
  use.containers["main"].bytes = layers;
  use.volumes["scratch"] = {.use = {.bytes = volume}, .in_memory = in_memory};
  return use;
}

DiskLimits limits_of(std::string_view resources, std::string_view size_limit = "null") {
  auto pod = parse(R"j({"spec":{"containers":[{"name":"main"}],
      "volumes":[{"name":"scratch","emptyDir":{}}]}})j");
  pod["spec"]["containers"].array().front()["resources"] = parse(resources);
  pod["spec"]["volumes"].array().front()["emptyDir"]["sizeLimit"] = parse(size_limit);
  return disk_limits(pod);
}

TEST(DiskVerdict, APodIsHeldToItsOwnLimits) {
  const auto limited = limits_of(R"j({"limits":{"ephemeral-storage":"8Mi"}})j", R"j("4Mi")j");
  EXPECT_EQ(over_limit(limited, used(8 * kMebi), kMebi), std::nullopt)
      << "its limit, not the share";
  EXPECT_EQ(over_limit(limited, used(9 * kMebi), 100 * kMebi),
            "Container main wrote 9Mi to its own file system and its log, more than its "
            "limits.ephemeral-storage of 8Mi");
  EXPECT_EQ(over_limit(limited, used(0, 5 * kMebi), 100 * kMebi),
            "emptyDir volume \"scratch\" holds 5Mi, more than its sizeLimit of 4Mi");
  EXPECT_EQ(over_limit(limited, used(0, 5 * kMebi, true), 100 * kMebi),
            "emptyDir volume \"scratch\" holds 5Mi, more than its sizeLimit of 4Mi");
  EXPECT_EQ(over_limit(limited, used(6 * kMebi, 3 * kMebi), 100 * kMebi),
            "The pod wrote 9Mi to the disk of its node, more than the limits.ephemeral-storage of "
            "its containers, 8Mi together");
  EXPECT_EQ(over_limit(limited, used(6 * kMebi, 3 * kMebi, true), 100 * kMebi), std::nullopt)
      << "memory is no disk";
}

TEST(DiskVerdict, WithoutALimitItHasAShare) {
  const auto none = limits_of("{}");
  EXPECT_EQ(over_limit(none, used(8 * kMebi), 8 * kMebi), std::nullopt);
  EXPECT_EQ(over_limit(none, used(8 * kMebi + kMebi / 2, kMebi), 9 * kMebi),
            "The pod wrote 9.5Mi to the disk of its node, more than the 9Mi that a pod may take of "
            "it; limits.ephemeral-storage of each container would allow more");
}

TEST(DiskVerdict, TheShareIsHalfOfWhatPodsHave) {
  const DiskSpace small{.total = 24 * kMebi, .available = 20 * kMebi};
  EXPECT_EQ(disk_reserve(small), 24 * kMebi / 10);
  EXPECT_EQ(fair_share(small, 0), (20 * kMebi - 24 * kMebi / 10) / 2);
  // Whoever took it: the share stays the same while the disk fills up.
  EXPECT_EQ(fair_share({.total = 24 * kMebi, .available = 0}, 20 * kMebi), fair_share(small, 0));
  EXPECT_EQ(disk_reserve({.total = std::int64_t{1} << 40U}), 256 * kMebi);
}

TEST(DiskVerdict, AFullDiskCostsWhoeverTookTheMostBeyondItsRequest) {
  const DiskSpace full{.total = 1000 * kMebi, .available = 0};
  const std::vector<Candidate> pods{
      {.uid = "a", .request = 0, .use = {.bytes = 30 * kMebi}},
      {.uid = "b", .request = 200 * kMebi, .use = {.bytes = 210 * kMebi}},
      {.uid = "c", .request = 0, .use = {.bytes = 10 * kMebi, .files = 900}}};
  EXPECT_EQ(choose_victim(pods, full)->uid, "a");
  EXPECT_EQ(victim_message(pods[0], full),
            "The disk of the node is full: 0 of 1000Mi are free; of its pods this one took the "
            "most beyond its request of 0, 30Mi");
  EXPECT_FALSE(choose_victim({{.uid = "a", .use = {.bytes = kMebi}}}, full)) << "would not help";
  const DiskSpace no_files{
      .total = 1000 * kMebi, .available = 900 * kMebi, .files = 1000, .free_files = 3};
  EXPECT_TRUE(is_full(no_files));
  EXPECT_EQ(choose_victim(pods, no_files)->uid, "c");
}

// --- a node whose disk fills up

class EvictionTest : public NodeTest {
 protected:
  EvictionTest() { runtime.space = {.total = 100 * kMebi, .available = 80 * kMebi}; }
  std::string reason(const std::string& name) {
    return (*pod(name))["status"]["reason"].as_string();
  }
  std::string message(const std::string& name) {
    return (*pod(name))["status"]["message"].as_string();
  }
  std::string pressure() {
    const auto node = cluster.at(api::nodes(), "", "n1");
    return api::condition_of(*node, "DiskPressure")["status"].as_string();
  }
};

TEST_F(EvictionTest, APodThatTookMoreThanItsShareIsEvicted) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "stubborn"));
  const auto other = create(PodBuilder("q").container("main", "serve"));
  loop.run_for(3s);
  ASSERT_EQ(phase("p"), "Running");
  runtime.write(other, "main", 20 * kMebi);
  loop.run_for(3s);
  EXPECT_EQ(phase("q"), "Running");
  runtime.write(uid, "main", 40 * kMebi);
  loop.run_for(3s);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ(reason("p"), "Evicted");
  EXPECT_NE(message("p").find("40Mi"), std::string::npos) << message("p");
  EXPECT_EQ(condition("p", "DisruptionTarget"), "absent") << "its own doing";
  EXPECT_EQ(event_message("Evicted"), message("p"));
  EXPECT_FALSE(runtime.did(fmt::format("signal 15 {}/main/0", uid))) << "no time to say goodbye";
  EXPECT_TRUE(runtime.did(fmt::format("discard {}/main/0", uid)));
  EXPECT_TRUE(runtime.did("remove " + uid));
  EXPECT_EQ(phase("q"), "Running");
  EXPECT_EQ(pressure(), "False");
}

// Whatever the policy says: it would only do it again.
TEST_F(EvictionTest, AnEvictedPodStartsNothingAnew) {
  start();
  const auto uid = create(PodBuilder("p").restart("Always").container("main", "serve"));
  loop.run_for(3s);
  runtime.write(uid, "main", 60 * kMebi);
  loop.run_for(600s);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
}

// It met the end of the disk and gave up before anybody looked.
TEST_F(EvictionTest, APodThatFailedOverItsLimitIsEvicted) {
  start();
  const auto uid =
      create(PodBuilder("p")
                 .restart("OnFailure")
                 .container("main", "run 2 1",
                            R"j({"resources":{"limits":{"ephemeral-storage":"1Mi"}}})j"));
  const auto fine = create(PodBuilder("q").restart("Never").container("main", "run 2 1"));
  loop.run_for(1900ms);
  ASSERT_EQ(phase("p"), "Running");
  runtime.write(uid, "main", 2 * kMebi);
  loop.run_for(200ms);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ(reason("p"), "Evicted");
  EXPECT_EQ(phase("q"), "Failed");
  EXPECT_EQ(reason("q"), "");
}

TEST_F(EvictionTest, AVolumeHasItsOwnLimit) {
  start();
  const auto uid = create(
      PodBuilder("p")
          .spec("volumes", R"j([{"name":"v","emptyDir":{"sizeLimit":"1Mi"}}])j")
          .container("main", "serve", R"j({"volumeMounts":[{"name":"v","mountPath":"/v"}]})j"));
  loop.run_for(3s);
  const auto volume = directory.path() + "/volumes/" + uid + "/v";
  std::ofstream(volume + "/file") << std::string(std::size_t{2} << 20U, 'x');
  loop.run_for(15s);
  EXPECT_EQ(reason("p"), "Evicted");
  EXPECT_NE(message("p").find("emptyDir volume \"v\" holds 2Mi"), std::string::npos)
      << message("p");
  EXPECT_FALSE(std::filesystem::exists(volume));
}

TEST_F(EvictionTest, AFullDiskIsSaidAndCostsTheLargestPod) {
  start();
  const auto small = create(PodBuilder("small").container("main", "serve"));
  const auto large = create(PodBuilder("large").container(
      "main", "serve", R"j({"resources":{"limits":{"ephemeral-storage":"50Mi"}}})j"));
  loop.run_for(3s);
  runtime.write(small, "main", 20 * kMebi);
  runtime.write(large, "main", 30 * kMebi);
  loop.run_for(3s);
  ASSERT_EQ(phase("large"), "Running");
  runtime.space.available = 5 * kMebi;  // somebody else on the machine
  for (int i = 0; i < 50 && pressure() != "True"; ++i) loop.run_for(25ms);
  EXPECT_EQ(pressure(), "True");
  loop.run_for(3s);
  EXPECT_EQ(reason("small"), "Evicted") << "the other one asked for what it took";
  EXPECT_EQ(condition("small", "DisruptionTarget"), "True");
  EXPECT_EQ(phase("large"), "Running");
  loop.run_for(3s);
  EXPECT_EQ(pressure(), "False") << "what it gave back is enough";
}

TEST_F(EvictionTest, NothingIsMeasuredWhileNothingIsWritten) {
  start();
  create(PodBuilder("p").container("main", "serve"));
  loop.run_for(60s);
  EXPECT_LE(runtime.measured, 8);
}

// The node dies between the decision and the end.
TEST_F(EvictionTest, AnEvictionGoesOnAfterARestart) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "serve"));
  loop.run_for(3s);
  auto object = *pod("p");
  object["status"]["reason"] = "Evicted";
  object["status"]["message"] = "too much";
  stop();
  cluster.put(api::pods(), object);
  start();
  loop.run_for(40s);
  EXPECT_EQ(phase("p"), "Failed");
  EXPECT_EQ(reason("p"), "Evicted");
  EXPECT_EQ(runtime.starts_of(uid, "main"), 1);
}

// What earlier runs of a container wrote goes when they end, not with the pod.
TEST_F(EvictionTest, AnEndedRunLeavesNothingOnTheDisk) {
  start();
  const auto uid = create(PodBuilder("p").restart("OnFailure").container("main", "run 1 1"));
  loop.run_for(5s);
  EXPECT_TRUE(runtime.did(fmt::format("discard {}/main/0", uid)));
  const auto over = create(PodBuilder("q").restart("Never").container("main", "run 1 0"));
  loop.run_for(5s);
  EXPECT_FALSE(runtime.did(fmt::format("discard {}/main/0", over))) << "goes with the pod at once";
}

}  // namespace
}  // namespace muster::node
