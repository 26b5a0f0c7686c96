#include <filesystem>
#include <fstream>
#include <iterator>

#include "unit/node/fixture.h"

// Work on files is never done on the loop: while the disk does not answer, nothing of it happens.
namespace muster::node {
namespace {

class DiskTest : public NodeTest {
 protected:
  [[nodiscard]] bool exists(const std::string& path) const {
    return std::filesystem::exists(directory.path() + "/" + path);
  }
  static constexpr const char* kVolumes = R"([{"name":"data","emptyDir":{}},
      {"name":"settings","configMap":{"name":"settings"}}])";
  static constexpr const char* kMounts =
      R"({"volumeMounts":[{"name":"data","mountPath":"/data","subPath":"part"}]})";

  void put_settings(const char* value) {
    auto map = parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings",
        "namespace":"default"}})");
    map["data"]["key"] = value;
    cluster.put(api::config_maps(), map);
  }
  std::string setting(const std::string& uid) const {
    std::ifstream in(directory.path() + "/volumes/" + uid + "/settings/key");
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  PodBuilder pod_with_volumes() {
    return PodBuilder("p").spec("volumes", kVolumes).container("main", "serve", kMounts);
  }
};

TEST_F(DiskTest, VolumesAreMadeOffTheLoop) {
  put_settings("one");
  start();
  hold_disk();
  const auto uid = create(pod_with_volumes());
  loop.run_for(1s);
  EXPECT_FALSE(exists("volumes/" + uid));
  EXPECT_EQ(runtime.starts_of(uid, "main"), 0);
  EXPECT_EQ(phase("p"), "Pending") << "and the loop goes on";
  release_disk();
  loop.run_for(1s);
  EXPECT_TRUE(exists("volumes/" + uid + "/data/part"));
  EXPECT_EQ(phase("p"), "Running");
}

TEST_F(DiskTest, DirectoriesOfSubPathsAreMadeOffTheLoop) {
  put_settings("one");
  start();
  const auto uid = create(PodBuilder("p")
                              .spec("volumes", kVolumes)
                              .init("first", "run 5 0")
                              .container("main", "serve", kMounts));
  loop.run_for(1s);
  ASSERT_TRUE(exists("volumes/" + uid + "/data"));
  hold_disk();
  loop.run_for(10s);
  EXPECT_FALSE(exists("volumes/" + uid + "/data/part"));
  release_disk();
  loop.run_for(1s);
  EXPECT_TRUE(exists("volumes/" + uid + "/data/part"));
  EXPECT_EQ(phase("p"), "Running");
}

TEST_F(DiskTest, VolumesAreRefreshedOffTheLoop) {
  put_settings("one");
  start();
  const auto uid = create(pod_with_volumes());
  loop.run_for(1s);
  ASSERT_EQ(setting(uid), "one");
  hold_disk();
  put_settings("two");
  loop.run_for(1s);
  EXPECT_EQ(setting(uid), "one");
  put_settings("three");
  loop.run_for(1s);
  release_disk();
  loop.run_for(1s);
  EXPECT_EQ(setting(uid), "three") << "in the order in which they came";
}

TEST_F(DiskTest, VolumesAreRemovedOffTheLoop) {
  put_settings("one");
  options.gpu_uuids = {"GPU-1"};
  start();
  const auto uid =
      create(PodBuilder("p")
                 .restart("Never")
                 .spec("volumes", kVolumes)
                 .container("main", "run 5 0", R"({"resources":{"limits":{"nvidia.com/gpu":1}}})"));
  loop.run_for(1s);
  hold_disk();
  loop.run_for(10s);
  EXPECT_EQ(phase("p"), "Succeeded");
  EXPECT_TRUE(exists("volumes/" + uid));
  EXPECT_TRUE(exists("gpus/" + uid));
  const auto next = create(PodBuilder("q").container(
      "main", "serve", R"({"resources":{"limits":{"nvidia.com/gpu":1}}})"));
  loop.run_for(1s);
  EXPECT_EQ(runtime.starts_of(next, "main"), 0) << "its GPU is free when that is on record";
  release_disk();
  loop.run_for(1s);
  EXPECT_FALSE(exists("volumes/" + uid));
  EXPECT_FALSE(exists("gpus/" + uid));
  loop.run_for(5s);
  EXPECT_EQ(phase("q"), "Running");
}

// The removal waits for what is being written, or it would come back.
TEST_F(DiskTest, APodThatGoesWhileItsVolumesAreMadeLeavesNone) {
  put_settings("one");
  start();
  hold_disk();
  const auto uid = create(pod_with_volumes());
  loop.run_for(1s);
  cluster.erase(api::pods(), {.ns = "default", .name = "p"});
  loop.run_for(1s);
  release_disk();
  loop.run_for(5s);
  EXPECT_FALSE(exists("volumes/" + uid));
  EXPECT_EQ(agent->pods(), 0U);
}

TEST_F(DiskTest, WhatEarlierPodsLeftIsRemovedOffTheLoop) {
  std::filesystem::create_directories(directory.path() + "/volumes/old/data");
  std::filesystem::create_directories(directory.path() + "/secrets/old");
  start();
  EXPECT_TRUE(exists("volumes/old")) << "found before, removed after the start";
  hold_disk();
  loop.run_for(1s);
  EXPECT_TRUE(exists("volumes/old"));
  EXPECT_TRUE(exists("secrets/old"));
  release_disk();
  loop.run_for(1s);
  EXPECT_FALSE(exists("volumes/old"));
  EXPECT_FALSE(exists("secrets/old"));
}

}  // namespace
}  // namespace muster::node
