#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <filesystem>
#include <optional>

#include "machine.h"
#include "node/linux/files.h"
#include "node/runtime/pod_directory.h"

namespace muster::node {
namespace {

namespace fs = std::filesystem;

// On the disk, where /tmp may be in memory.
class PlacesTest : public ::testing::Test {
 protected:
  PlacesTest() {
    std::string pattern = "/var/tmp/muster-places-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  ~PlacesTest() override { fs::remove_all(directory_); }

  // Nothing: the file system has none.
  [[nodiscard]] std::optional<int> flags() const {
    const Fd opened(::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    int found = 0;
    if (::ioctl(opened.get(), FS_IOC_GETFLAGS, &found) != 0) return std::nullopt;
    return found;
  }
  ino_t made(const std::string& name) const {
    fs::create_directory(directory_ + "/" + name);
    struct stat status{};
    EXPECT_EQ(::stat((directory_ + "/" + name).c_str(), &status), 0);
    return status.st_ino;
  }

  std::string directory_;
};

TEST_F(PlacesTest, WhatIsMadeLaterLiesElsewhereAndTogether) {
  const auto before = flags();
  const auto first = made("a");
  linux::move_elsewhere(directory_);
  EXPECT_EQ(flags(), before) << "entries lie together again";
  const auto second = made("b");
  const auto third = made("c");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 3) << "nothing else is left";
  struct statfs system{};
  ASSERT_EQ(::statfs(directory_.c_str(), &system), 0);
  constexpr long kExt4 = 0xEF53;
  constexpr auto kMostInOneGroup = 32'768U;
  if (system.f_type != kExt4 || !before) return;  // others look after their places in other ways
  if (system.f_files <= kMostInOneGroup) return;  // there is only one place
  const auto apart = [](ino_t one, ino_t other) { return one > other ? one - other : other - one; };
  EXPECT_LT(apart(second, third), 512U);
  EXPECT_GT(apart(first, second), apart(second, third));
}

TEST_F(PlacesTest, WhereTheFileSystemKnowsNoPlacesNothingHappens) {
  linux::move_elsewhere("/proc");
  linux::move_elsewhere(directory_ + "/nothing");
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(PlacesTest, WhatAMoveLeftIsNoPod) {
  for (const char* name : {"/state", "/layers", "/logs", "/layers/.first-1"})
    fs::create_directory(directory_ + name);
  const auto found = find_pods({.state = directory_ + "/state",
                                .layers = directory_ + "/layers",
                                .logs = directory_ + "/logs"});
  EXPECT_TRUE(found.empty());
}

}  // namespace
}  // namespace muster::node
