#include <sys/mount.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "machine.h"
#include "node/shim/root/mounts.h"

namespace muster::node {
namespace {

// What a container can find of the host that is none of its business.
class HiddenTest : public RuntimeTest {
 protected:
  void put_secrets() {
    std::ofstream(home_ + "/store.db") << "everything\n";
    std::ofstream(home_ + "/muster.sock") << "not really a socket\n";
  }
  std::string look(const std::string& script, std::vector<Mount> mounts = {},
                   RootFilesystem root = {}) {
    pod("a");
    auto spec = container({"sh", "-c", "exec 2>&1; " + script});
    spec.mounts = std::move(mounts);
    spec.root = std::move(root);
    run_container("a", spec);
    auto seen = output("a");
    remove("a");
    return seen;
  }
};

TEST_F(HiddenTest, TheWholeHomeIsEmptyAndStaysSo) {
  put_secrets();
  open_runtime();
  const auto seen =
      look("ls -A " + home_ + " | wc -l; cat " + home_ + "/store.db || echo no store; umount " +
           home_ + " || echo stays; ls -A " + home_ + " | wc -l; mkdir -p " + home_ +
           "/mine && echo own > " + home_ + "/mine/x && cat " + home_ + "/mine/x");
  EXPECT_TRUE(seen.starts_with("0\n")) << seen;
  EXPECT_NE(seen.find("no store\n"), std::string::npos) << seen;
  EXPECT_TRUE(seen.ends_with("stays\n0\nown\n")) << seen;
  EXPECT_FALSE(std::filesystem::exists(home_ + "/mine"));
}

TEST_F(HiddenTest, TheFirstProcessOfThePodLeadsNowhere) {
  put_secrets();
  open_runtime();
  const auto seen = look(
      "cat /proc/1/comm; ls -A /proc/1/root/ | wc -l; ls /proc/1/cwd/ | wc -l;"
      "test -e /proc/1/root" +
      home_ +
      " || echo no home;"
      "test -e /proc/1/root/etc || echo no host; wc -l < /proc/1/mountinfo");
  EXPECT_TRUE(seen.starts_with("muster-init\n")) << seen;
  EXPECT_NE(seen.find("no home\nno host\n"), std::string::npos) << seen;
  EXPECT_EQ(seen.find("bin"), std::string::npos) << seen;
}

TEST_F(HiddenTest, HostPathsAboveTheHomeDoNotShowIt) {
  put_secrets();
  open_runtime();
  const auto above = std::filesystem::path(home_).parent_path().string();
  const auto name = std::filesystem::path(home_).filename().string();
  const auto seen =
      look("ls -A /host" + home_ + " | wc -l; ls -A /above/" + name +
               " | wc -l; ls -A /itself | wc -l; test -e /host/etc/passwd && echo the rest",
           {{.source = "/", .target = "/host"},
            {.source = above, .target = "/above"},
            {.source = home_, .target = "/itself"}});
  EXPECT_EQ(seen, "0\n0\n0\nthe rest\n");
}

TEST_F(HiddenTest, HostPathsAboveSharedMemoryDoNotShowWhatHomesKeepThere) {
  const auto kept = "/dev/shm/muster-node-" + std::filesystem::path(home_).filename().string();
  std::filesystem::create_directories(kept);
  std::ofstream(kept + "/secret") << "everything\n";
  open_runtime();
  EXPECT_EQ(
      look("ls -A /memory/" + std::filesystem::path(kept).filename().string() +
               " | wc -l; ls -A /device/shm/" + std::filesystem::path(kept).filename().string() +
               " | wc -l",
           {{.source = "/dev/shm", .target = "/memory"}, {.source = "/dev", .target = "/device"}}),
      "0\n0\n");
  std::filesystem::remove_all(kept);
}

TEST_F(HiddenTest, AnImageThatHoldsTheHomeDoesNotShowIt) {
  put_secrets();
  open_runtime();
  EXPECT_EQ(look("ls -A " + home_ + " | wc -l", {},
                 {.kind = RootFilesystem::Kind::Directory, .directory = "/"}),
            "0\n");
}

TEST_F(HiddenTest, AHomeOnAMountOfItsOwnIsHiddenAtEveryPlaceOfThatMount) {
  const auto place = home_ + "-mount";
  const auto twin = home_ + "-twin";
  const auto outer = home_;
  std::filesystem::create_directories(place);
  std::filesystem::create_directories(twin);
  ASSERT_EQ(::mount("tmpfs", place.c_str(), "tmpfs", 0, "size=16m"), 0);
  std::filesystem::create_directories(place + "/in/home");
  ASSERT_EQ(::mount((place + "/in").c_str(), twin.c_str(), nullptr, MS_BIND, nullptr), 0);
  std::ofstream(place + "/in/beside") << "beside\n";
  home_ = place + "/in/home";
  put_secrets();
  open_runtime();
  const auto seen =
      look("ls -A " + home_ + " | wc -l; ls -A " + twin + "/home | wc -l; cat " + twin + "/beside");
  EXPECT_EQ(seen, "0\n0\nbeside\n");
  close_runtime();
  EXPECT_EQ(::umount(twin.c_str()), 0);
  EXPECT_EQ(::umount(place.c_str()), 0);
  std::filesystem::remove_all(place);
  std::filesystem::remove_all(twin);
  home_ = outer;
}

TEST_F(HiddenTest, AnotherHomeOfTheMachineIsHiddenToo) {
  const auto other = home_ + "-other";
  std::filesystem::create_directories(other);
  std::ofstream(other + "/kubeconfig") << "another owner's\n";
  rt::RealLoop loop;
  rt::Pool pool(1);
  auto theirs = create_runtime(loop, pool, {.home = other, .shim_path = MUSTER_SHIM});
  ASSERT_TRUE(theirs) << theirs.error().message;
  open_runtime();
  EXPECT_EQ(look("ls -A " + other + " | wc -l"), "0\n");
  loop.run((*theirs)->close());
  EXPECT_EQ(look("ls -A " + other + " | wc -l"), "0\n0\n") << "also while nobody runs it";
  std::filesystem::remove_all(other);
}

TEST_F(HiddenTest, RootInAContainerHasNoRightsOverTheMachine) {
  open_runtime();
  const auto seen = look(
      "mknod /x b 1 0 || echo no devices; mount -t tmpfs none /mnt || echo no mounts;"
      "ip link set eth0 down || echo no network; id -u; touch /owned && chown 7 /owned && echo "
      "files");
  EXPECT_NE(seen.find("no devices\n"), std::string::npos) << seen;
  EXPECT_NE(seen.find("no mounts\n"), std::string::npos) << seen;
  EXPECT_NE(seen.find("no network\n"), std::string::npos) << seen;
  EXPECT_TRUE(seen.ends_with("0\nfiles\n")) << seen;
}

// As others were taken over: a container executes /proc/self/exe, and another one keeps that file
// open until it can be written. Here it never can: the pod's own shim executes it for as long as
// the pod lives.
TEST_F(HiddenTest, TheProgramOfTheShimCannotBeWritten) {
  open_runtime();
  const auto volume = home_ + "/volume";
  std::filesystem::create_directories(volume);
  ASSERT_EQ(::mkfifo((volume + "/sandbox").c_str(), 0600), 0);  // which the shim reads first
  pod("a");
  auto again = container({"/proc/self/exe", "/volume"});
  again.name = "again";
  again.mounts.push_back({.source = volume, .target = "/volume"});
  start("a", again);
  auto taker = container(
      {"sh", "-c",
       "exec 2>&1; while p=$(grep -ls muster-shim /proc/[0-9]*/comm); test -z \"$p\"; do :; done;"
       "p=${p%/comm}; exec 3<$p/exe;"
       "echo x > /volume/sandbox; while test -e $p; do :; done;"
       "{ : >> /proc/self/fd/3; } && echo WRITABLE"});
  taker.mounts.push_back({.source = volume, .target = "/volume"});
  run_container("a", taker);
  EXPECT_NE(output("a").find("Text file busy"), std::string::npos) << output("a");
  remove("a");
}

TEST(Places, AreFoundThroughBindsOfTheSameFileSystem) {
  constexpr std::string_view kMounts =
      "20 1 8:1 / / rw - ext4 /dev/a rw\n"
      "21 20 8:2 / /data rw - ext4 /dev/b rw\n"
      "22 20 8:2 /muster /mirror rw - ext4 /dev/b rw\n"
      "23 20 8:2 /other /other rw - ext4 /dev/b rw\n"
      "24 20 8:1 / /whole\\040root rw - ext4 /dev/a rw\n";
  using Paths = std::vector<std::string>;
  EXPECT_EQ(shim::places_of("/data/muster", kMounts), (Paths{"/data/muster", "/mirror"}));
  EXPECT_EQ(shim::places_of("/data/muster/home", kMounts),
            (Paths{"/data/muster/home", "/mirror/home"}));
  EXPECT_EQ(shim::places_of("/root/.muster", kMounts),
            (Paths{"/root/.muster", "/whole root/root/.muster"}));
  EXPECT_EQ(shim::places_of("/mirror/home", kMounts), (Paths{"/mirror/home", "/data/muster/home"}));
}

}  // namespace
}  // namespace muster::node
