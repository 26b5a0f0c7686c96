#include <filesystem>

#include "machine.h"

namespace muster::node {
namespace {

constexpr std::int64_t kMebi = std::int64_t{1} << 20U;

// What containers have on the disk, measured on a real one.
class DiskTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    open_runtime();
    pod("a");
  }
  void TearDown() override {
    if (runtime_) remove("a");
    RuntimeTest::TearDown();
  }
  std::int64_t use(const std::string& container = "main") {
    return run(runtime_->disk_use("a"))[container].bytes;
  }
};

TEST_F(DiskTest, LayersTemporaryFilesAndLogsCount) {
  const auto before = run(runtime_->disk_space());
  ASSERT_TRUE(before) << before.error().message;
  EXPECT_GT(before->available, 0);
  EXPECT_GE(before->total, before->available);
  run_container("a", container({"true"}));
  EXPECT_LT(use(), kMebi);
  run_container("a", container({"sh", "-c",
                                "head -c 1048576 /dev/zero > /root-file; head -c 2097152 /dev/zero "
                                "> /tmp/file; head -c 1048576 /dev/zero | tr '\\0' x"},
                               1));
  EXPECT_GE(use(), 4 * kMebi);
  EXPECT_LT(use(), 7 * kMebi);
}

TEST_F(DiskTest, ADeletedFileCountsWhileItIsOpen) {
  start("a", container({"sh", "-c",
                        "exec 3> /file; rm /file; head -c 4194304 /dev/zero >&3; echo written; "
                        "exec sleep 600"}));
  ASSERT_TRUE(await_output("a", "written"));
  EXPECT_GE(use(), 4 * kMebi);
  ASSERT_TRUE(run(runtime_->kill_container("a", "main", 0)));
  wait("a");
  EXPECT_LT(use(), kMebi);
}

TEST_F(DiskTest, WhatARunWroteIsDiscardedAndItsRecordsStay) {
  run_container("a",
                container({"sh", "-c", "head -c 4194304 /dev/zero > /file; echo said; exit 3"}));
  ASSERT_GE(use(), 4 * kMebi);
  ASSERT_TRUE(run(runtime_->discard_written("a", "main", 0)));
  EXPECT_LT(use(), kMebi);
  EXPECT_EQ(wait("a").exit_code, 3);
  EXPECT_EQ(output("a"), "said\n");
  EXPECT_TRUE(run(runtime_->discard_written("a", "main", 0))) << "twice";
}

// It is killed for what it wrote: that goes first, with its processes still dying.
TEST_F(DiskTest, APodThatIsKilledGivesItsRoomBack) {
  start("a", container({"sh", "-c", "while :; do head -c 1048576 /dev/zero >> /file; done"}));
  for (int i = 0; i < 1000 && use() < 4 * kMebi; ++i) [[maybe_unused]]
    const auto slept = run(rt::sleep_for(*loop_, std::chrono::milliseconds(5)));
  ASSERT_TRUE(run(runtime_->kill_sandbox("a")));
  ASSERT_TRUE(run(runtime_->discard_written("a", "main", 0)));
  EXPECT_EQ(wait("a").exit_code, 137);
  EXPECT_LT(use(), 3 * kMebi);
}

}  // namespace
}  // namespace muster::node
