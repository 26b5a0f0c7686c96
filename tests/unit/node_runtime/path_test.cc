#include <fcntl.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "machine.h"

namespace muster::node {
namespace {

namespace fs = std::filesystem;

// Paths that a pod can change, against the real kernel: what the shim mounts, makes and enters
// stays in the volume and in the container.
class PathTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    volume_ = home_ + "-volume";
    outside_ = home_ + "-outside";
    fs::create_directories(volume_ + "/part");
    fs::create_directories(outside_);
    std::ofstream(outside_ + "/secret") << "outside\n";
    std::ofstream(volume_ + "/part/own") << "inside\n";
    open_runtime();
    pod("a");
  }
  void TearDown() override {
    if (runtime_) remove("a");
    fs::remove_all(volume_);
    fs::remove_all(outside_);
    RuntimeTest::TearDown();
  }
  // Why it did not start; empty: it did.
  std::string start_failure(ContainerSpec spec) {
    const auto outcome = run(runtime_->start_container("a", std::move(spec)));
    EXPECT_TRUE(outcome) << outcome.error().message;
    if (!outcome || !outcome->start) return outcome ? outcome->message : "machine";
    wait("a", "main", 0);
    return "";
  }
  std::string volume_;
  std::string outside_;
};

TEST_F(PathTest, WhatIsMountedOfAVolumeIsInIt) {
  auto spec = container({"cat", "/data/own"});
  spec.mounts.push_back({.source = volume_, .below = "part", .target = "/data"});
  EXPECT_EQ(run_container("a", spec).exit_code, 0);
  EXPECT_EQ(output("a"), "inside\n");
}

TEST_F(PathTest, ALinkThatLeadsOutOfAVolumeIsNotMounted) {
  fs::create_directory_symlink(outside_, volume_ + "/link");
  for (const auto& mount : {Mount{.source = volume_, .below = "link", .target = "/data"},
                            Mount{.source = volume_, .below = "part/../../", .target = "/data"},
                            Mount{.source = volume_ + "/link", .target = "/data"}}) {
    auto spec = container({"cat", "/data/secret"});
    spec.mounts.push_back(mount);
    EXPECT_NE(start_failure(spec).find("leaves its directory"), std::string::npos)
        << mount.source << " " << mount.below << ": " << start_failure(spec);
  }
}

// The volume's other user swaps the directory for a link while containers start.
TEST_F(PathTest, ARaceForASubPathIsNeverWon) {
  fs::create_directory_symlink(outside_, volume_ + "/link");
  std::atomic<bool> enough = false;
  std::thread attacker([&] {
    const auto part = volume_ + "/part";
    const auto link = volume_ + "/link";
    while (!enough) ::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
  });
  int inside = 0;
  for (int attempt = 0; attempt < 60; ++attempt) {
    auto spec = container({"sh", "-c", "cat /data/*"}, attempt);
    spec.mounts.push_back({.source = volume_, .below = "part", .target = "/data"});
    const auto outcome = run(runtime_->start_container("a", spec));
    ASSERT_TRUE(outcome) << outcome.error().message;
    if (!outcome->start) continue;
    wait("a", "main", attempt);
    EXPECT_EQ(output("a", "main", attempt), "inside\n");
    ++inside;
  }
  enough = true;
  attacker.join();
  EXPECT_GT(inside, 0);
}

// A place for a mount inside a volume, led by a link of /proc to another process.
TEST_F(PathTest, NothingIsMadeOrMountedThroughAnotherProcess) {
  const auto made = home_ + "-made";
  fs::create_directory_symlink("/proc/1/root" + made, volume_ + "/part/directory");
  fs::create_symlink("/proc/1/root" + made, volume_ + "/part/file");
  for (const auto& mount : {Mount{.source = outside_, .target = "/data/directory"},
                            Mount{.source = outside_ + "/secret", .target = "/data/file"},
                            Mount{.kind = Mount::Kind::Tmpfs, .target = "/data/directory/deep"}}) {
    auto spec = container({"true"});
    spec.mounts.push_back({.source = volume_, .below = "part", .target = "/data"});
    spec.mounts.push_back(mount);
    EXPECT_NE(start_failure(spec), "") << mount.target;
    EXPECT_FALSE(fs::exists(made)) << mount.target;
  }
  auto spec = container({"ls"});
  spec.cwd = "/proc/1/root";
  EXPECT_NE(start_failure(spec).find("working directory"), std::string::npos);
}

// What a container left is counted by what it wrote, not by where its links lead.
TEST_F(PathTest, LinksThatAContainerLeftAreNotFollowed) {
  const std::string place = "/var/lib/muster-test-" + fs::path(home_).filename().string();
  const auto script = "mkdir -p " + place + " && ln -s /etc " + place + "/up && ln -s " + outside_ +
                      " " + place + "/down";
  EXPECT_EQ(run_container("a", container({"sh", "-c", script})).exit_code, 0);
  const auto count = [&](const std::string& directory) {
    return run(runtime_->count_written("a", "main", 0, directory));
  };
  EXPECT_EQ(count(place), 2) << "the links themselves";
  EXPECT_EQ(count(place + "/up"), 0);
  EXPECT_EQ(count(place + "/down"), 0);
}

}  // namespace
}  // namespace muster::node
