#include <sys/mount.h>

#include <filesystem>
#include <fstream>

#include "machine.h"

namespace muster::node {
namespace {

namespace fs = std::filesystem;

// A directory of the host that a container may write to without changing it, and how many files it
// wrote there.
class ShownTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    directory_ = fs::path(home_).parent_path() / ("shown-" + fs::path(home_).filename().string());
    fs::create_directories(directory_ + "/sub");
    std::ofstream(directory_ + "/file") << "of the host\n";
    open_runtime();
  }
  void TearDown() override {
    fs::remove_all(directory_);
    RuntimeTest::TearDown();
  }
  // What it printed; then how many files it left.
  std::string run(const std::string& script, std::vector<Mount> mounts,
                  const std::string& counted) {
    pod("a");
    auto spec = container({"sh", "-c", "exec 2>&1; " + script});
    spec.mounts = std::move(mounts);
    run_container("a", spec);
    const auto count = RuntimeTest::run(runtime_->count_written("a", "main", 0, counted));
    auto seen = output("a") + std::to_string(count);
    remove("a");
    return seen;
  }
  [[nodiscard]] Mount shown() const {
    return {.source = directory_, .target = directory_, .read_only = true, .copy_on_write = true};
  }

  std::string directory_;
};

TEST_F(ShownTest, IsWrittenToWithoutTheHostSeeingIt) {
  const auto seen = run("cd " + directory_ +
                            "; cat file; echo new > new; echo more > sub/more; rm file; ln -s new "
                            "link; mkdir empty __pycache__; echo x > __pycache__/x.pyc; ls",
                        {shown()}, directory_);
  EXPECT_EQ(seen, "of the host\n__pycache__\nempty\nlink\nnew\nsub\n3");
  EXPECT_TRUE(fs::exists(directory_ + "/file"));
  EXPECT_FALSE(fs::exists(directory_ + "/new"));
}

TEST_F(ShownTest, NothingWrittenIsNothingLost) {
  EXPECT_EQ(run("cat " + directory_ + "/file", {shown()}, directory_), "of the host\n0");
}

TEST_F(ShownTest, WhatIsMountedInItStaysInSight) {
  ASSERT_EQ(::mount("tmpfs", (directory_ + "/sub").c_str(), "tmpfs", 0, "size=1m"), 0);
  std::ofstream(directory_ + "/sub/other") << "other file system\n";
  const auto seen =
      run("cat " + directory_ + "/sub/other; echo x > " + directory_ + "/new || echo read-only",
          {shown()}, directory_);
  ::umount2((directory_ + "/sub").c_str(), MNT_DETACH);
  EXPECT_NE(seen.find("other file system\n"), std::string::npos) << seen;
  EXPECT_TRUE(seen.ends_with("read-only\n0")) << seen;
}

TEST_F(ShownTest, FilesOnTheRootAreCountedWhereTheyWereWritten) {
  const std::string place = "/var/lib/muster-test-" + fs::path(home_).filename().string();
  const auto script = "mkdir -p " + place + "/a && echo x > " + place + "/a/x && echo y > " +
                      place + "/y && echo z > /var/lib/elsewhere";
  EXPECT_EQ(run(script, {}, place), "2");
  EXPECT_FALSE(fs::exists(place));
}

TEST_F(ShownTest, WhereSomethingIsMountedNothingWasWritten) {
  const std::string place = "/muster-test-" + fs::path(home_).filename().string();
  const Mount file{.source = directory_ + "/file", .target = place + "/deep/file"};
  EXPECT_EQ(run("cat " + file.target, {file}, "/"), "of the host\n0");
  EXPECT_TRUE(run("echo x > " + place + "/x", {file}, "/").ends_with("1"));
}

TEST_F(ShownTest, AHomeInItStaysHidden) {
  const auto above = fs::path(home_).parent_path().string();
  const auto seen =
      run("ls -A " + home_ + " | wc -l; echo x > " + above + "/new; cat " + above + "/new",
          {{.source = above, .target = above, .read_only = true, .copy_on_write = true}}, above);
  EXPECT_EQ(seen.substr(0, 2), "0\n") << seen;
  EXPECT_FALSE(fs::exists(above + "/new"));
}

}  // namespace
}  // namespace muster::node
