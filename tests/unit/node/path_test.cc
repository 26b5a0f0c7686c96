#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "node/linux/beneath.h"
#include "node/linux/tree.h"
#include "node/volumes/on_host.h"
#include "node/volumes/volumes.h"
#include "unit/node/fixture.h"

// Whoever may write into a volume leads nobody out of it: not with links, not with "..", not by
// changing one for the other while we walk; and nothing is made outside.
namespace muster::node {
namespace {

namespace fs = std::filesystem;
using linux::Walk;

class PathTest : public ::testing::Test {
 protected:
  PathTest() {
    fs::create_directories(volume);
    fs::create_directories(outside + "/secret");
    root = std::move(*linux::open_root(volume));
  }
  // How a pod would see it, and whether it was let in.
  Result<std::vector<Mount>> sub_path(const std::string& below) const {
    auto container = parse(R"j({"name":"c","volumeMounts":[{"name":"v","mountPath":"/v"}]})j");
    container["volumeMounts"].array().front()["subPath"] = below;
    return container_mounts(container, {{"v", {.path = volume}}}, {});
  }
  [[nodiscard]] bool untouched() const {
    std::size_t entries = 0;
    for ([[maybe_unused]] const auto& entry : fs::recursive_directory_iterator(outside)) ++entries;
    return entries == 1;
  }

  TemporaryDirectory directory;
  std::string volume = fs::canonical(directory.path()).string() + "/volume";
  std::string outside = fs::canonical(directory.path()).string() + "/outside";
  Fd root;
};

TEST_F(PathTest, SubPathsLeaveTheVolumeByNoLink) {
  fs::create_directory_symlink(outside, volume + "/absolute");
  fs::create_directory_symlink("../outside", volume + "/relative");
  fs::create_directory_symlink("/", volume + "/machine");
  fs::create_directory_symlink("absolute", volume + "/twice");
  fs::create_directory_symlink(outside + "/new", volume + "/dangling");
  fs::create_directory_symlink("/proc/self/root", volume + "/magic");
  fs::create_directories(volume + "/deep/down");
  fs::create_directory_symlink("../../../outside", volume + "/deep/down/up");
  for (const char* below :
       {"absolute", "absolute/new", "absolute/new/deep", "relative", "relative/new", "machine/etc",
        "twice/new", "dangling", "dangling/new", "magic/etc", "deep/down/up", "deep/down/up/new",
        "..", "../outside/new", "deep/../../outside/new", "/etc"}) {
    const auto made = sub_path(below);
    ASSERT_FALSE(made) << below;
    EXPECT_NE(made.error().message.find("subPath"), std::string::npos) << made.error().message;
    EXPECT_TRUE(untouched()) << below;
  }
}

TEST_F(PathTest, LinksThatStayInTheVolumeAreFollowed) {
  fs::create_directories(volume + "/data/one");
  fs::create_directory_symlink("../data", volume + "/data/self");
  const auto made = sub_path("data/self/one/new");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->front().source, volume);
  EXPECT_EQ(made->front().below, "data/self/one/new");
  EXPECT_TRUE(fs::is_directory(volume + "/data/one/new"));
}

TEST_F(PathTest, DirectoriesHaveTheirModeWhateverTheUmask) {
  const auto before = ::umask(077);
  ASSERT_TRUE(sub_path("a/b"));
  ::umask(before);
  struct stat status{};
  ASSERT_EQ(::stat((volume + "/a/b").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0755U);
}

// Somebody swaps a directory for a link, over and over, while sub paths below it are made.
TEST_F(PathTest, ARaceIsNeverWon) {
  fs::create_directory(volume + "/a");
  fs::create_directory_symlink(outside, volume + "/link");
  std::atomic<bool> enough = false;
  std::thread attacker([&] {
    const auto a = volume + "/a";
    const auto link = volume + "/link";
    while (!enough) ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
  });
  int let_in = 0;
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    const auto below = fmt::format("a/new-{}", i);
    ++(sub_path(below) ? let_in : refused);
    // As the shim looks it up, later.
    const auto opened = linux::open_within(root.get(), below, O_PATH, Walk::Beneath);
    if (opened) EXPECT_TRUE(linux::path_of(opened->get())->starts_with(volume));
  }
  enough = true;
  attacker.join();
  EXPECT_TRUE(untouched());
  EXPECT_GT(let_in, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(PathTest, ARootOfAContainerKeepsWhatLeadsOutOfIt) {
  fs::create_directory(volume + "/run");
  fs::create_directory_symlink("/run", volume + "/absolute");
  fs::create_directory_symlink("../../../../run", volume + "/up");
  fs::create_directory_symlink("/proc/self/root", volume + "/magic");
  for (const char* path : {"/absolute/one/two", "/up/three", "../../run/four"}) {
    const auto made = linux::make_directories_within(root.get(), path, 0755, Walk::InRoot);
    ASSERT_TRUE(made) << path << ": " << made.error().message;
    EXPECT_TRUE(linux::path_of(made->get())->starts_with(volume + "/run/")) << path;
  }
  EXPECT_FALSE(linux::make_file_within(root.get(), "/magic/etc/new", 0644, Walk::InRoot));
  EXPECT_FALSE(fs::exists("/etc/new"));
  ASSERT_TRUE(linux::make_file_within(root.get(), "/absolute/file", 0644, Walk::InRoot));
  EXPECT_TRUE(fs::is_regular_file(volume + "/run/file"));
}

TEST_F(PathTest, AHostPathMakesNothingInTheHome) {
  const auto home = directory.path() + "/home";
  fs::create_directories(home);
  fs::create_directory_symlink(home, outside + "/link");
  for (const char* type : {"", "DirectoryOrCreate", "FileOrCreate"}) {
    json::Value source = json::Object{{"path", outside + "/link/new"}, {"type", type}};
    EXPECT_FALSE(host_path(source, {.home = home})) << type;
  }
  EXPECT_TRUE(fs::is_empty(home));
}

// What the shim is told has no link in it: nobody changes the way afterwards.
TEST_F(PathTest, AHostPathIsToldWithoutLinks) {
  fs::create_directory_symlink(outside, volume + "/way");
  const auto made = host_path(json::Object{{"path", volume + "/way/secret"}}, {});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->path, outside + "/secret");
  EXPECT_TRUE(linux::open_exact(made->path, O_PATH));
  EXPECT_FALSE(linux::open_exact(volume + "/way/secret", O_PATH));
}

TEST_F(PathTest, TheSizeOfATreeIsThatOfWhatIsInIt) {
  std::ofstream(outside + "/secret/large") << std::string(std::size_t{4} << 20U, 'x');
  const auto empty = linux::disk_use(volume, 1000);
  fs::create_directory_symlink(outside, volume + "/link");
  fs::create_symlink(outside + "/secret/large", volume + "/file");
  std::ofstream(volume + "/own") << std::string(std::size_t{1} << 20U, 'x');
  fs::create_hard_link(volume + "/own", volume + "/again");
  const auto use = linux::disk_use(volume, 1000);
  EXPECT_EQ(use.files, 4);
  EXPECT_GE(use.bytes - empty.bytes, std::int64_t{1} << 20U);
  EXPECT_LT(use.bytes - empty.bytes, std::int64_t{2} << 20U);
  EXPECT_TRUE(use.whole);
  EXPECT_FALSE(linux::disk_use(volume, 2).whole);
}

}  // namespace
}  // namespace muster::node
