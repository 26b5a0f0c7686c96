#include "node/shim/root/root.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "machine.h"

namespace muster::node {
namespace {

namespace fs = std::filesystem;

// What a container's root is made of, seen from the machine.
class RootTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    beside_ = fs::path(home_).parent_path() / ("beside-" + fs::path(home_).filename().string());
    fs::create_directories(beside_);
  }
  void TearDown() override {
    fs::remove_all(beside_);
    RuntimeTest::TearDown();
  }
  [[nodiscard]] fs::path upper() const { return home_ + "/pods/a/main-0/upper"; }

  std::string beside_;  // on the machine's root, outside of the home
};

// How many things the root of the process's mount namespace covers; -1: it could not be taken off.
int entries_below_the_root(int pid) {
  const int child = ::fork();
  if (child == 0) {
    const Fd mounts(::open(("/proc/" + std::to_string(pid) + "/ns/mnt").c_str(), O_RDONLY));
    if (::setns(mounts.get(), CLONE_NEWNS) != 0 || ::umount2("/", MNT_DETACH) != 0 ||
        ::setns(mounts.get(), CLONE_NEWNS) != 0)
      ::_exit(255);
    std::error_code error;
    const auto entries = std::distance(fs::directory_iterator("/", error), {});
    ::_exit(error ? 255 : static_cast<int>(entries));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  return code == 255 ? -1 : code;
}

TEST_F(RootTest, NothingOfTheMachineIsUnderIt) {
  open_runtime();
  pod("a");
  const auto pid = start("a", container({"sleep", "60"})).pid;
  EXPECT_EQ(entries_below_the_root(pid), 0);
  remove("a");
}

TEST_F(RootTest, PlacesForMountsAreNotWrittenToTheDisk) {
  open_runtime();
  pod("a");
  ASSERT_EQ(::chmod(beside_.c_str(), 0711), 0);
  ASSERT_EQ(::chown(beside_.c_str(), 1234, 4321), 0);
  auto spec = container({"sh", "-c",
                         "stat -c '%a %u %g' " + beside_ + "; ls -A " + beside_ + "; cat " +
                             beside_ + "/new/file; ls -d /none/there"});
  spec.mounts.push_back({.source = "/etc/hostname", .target = beside_ + "/new/file"});
  spec.mounts.push_back({.source = "/usr", .target = "/none/there"});
  spec.cwd = "/none/work";
  EXPECT_EQ(run_container("a", spec).exit_code, 0);
  EXPECT_EQ(output("a"), "711 1234 4321\nnew\n" + read_text("/etc/hostname") + "/none/there\n");
  EXPECT_TRUE(fs::is_empty(upper()));
  EXPECT_FALSE(fs::exists(beside_ + "/new"));
  remove("a");
}

TEST_F(RootTest, WhatIsWrittenBesideAPlaceIsOnTheDisk) {
  open_runtime();
  pod("a");
  auto spec = container({"sh", "-c", "echo x > /none/mine && mv /none/mine /none/moved"});
  spec.mounts.push_back({.source = "/usr", .target = "/none/there"});
  EXPECT_EQ(run_container("a", spec).exit_code, 0);
  EXPECT_TRUE(fs::exists(upper() / "none/moved"));
  remove("a");
}

// Commas, colons and backslashes mean something in the options of an overlay, and those are short.
TEST_F(RootTest, PathsMayBeLongAndOdd) {
  const auto plain = std::exchange(
      home_, home_ + "/a,b:c\\d/" + std::string(200, 'x') + "/" + std::string(200, 'y'));
  fs::create_directories(home_ + "/image,1:2/bin");
  fs::create_directories(home_ + "/image,1:2/only,here");
  open_runtime();
  pod("a");
  auto spec = container({"sh", "-c", "ls -d /only,here && echo x > /written"});
  spec.root = {.kind = RootFilesystem::Kind::DirectoryOver, .directory = home_ + "/image,1:2"};
  EXPECT_EQ(run_container("a", spec).exit_code, 0);
  EXPECT_EQ(output("a"), "/only,here\n");
  auto machine = container({"sh", "-c", "test ! -e /only,here"}, 1);
  EXPECT_EQ(run_container("a", machine).exit_code, 0);
  remove("a");
  close_runtime();
  home_ = plain;
}

}  // namespace
}  // namespace muster::node
