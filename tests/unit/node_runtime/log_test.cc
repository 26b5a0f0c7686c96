#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/strings.h"
#include "machine.h"
#include "node/shim/cri_writer.h"
#include "node/shim/protocol.h"
#include "node/shim/root/mounts.h"

namespace muster::node::shim {
namespace {

namespace fs = std::filesystem;
using Stream = CriWriter::Stream;

class CriWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char path[] = "/var/tmp/muster-log-XXXXXX";
    directory_ = ::mkdtemp(path);
  }
  void TearDown() override { fs::remove_all(directory_); }
  [[nodiscard]] std::string path() const { return directory_ + "/c/0.log"; }

  std::string directory_;
  Time time_{std::chrono::seconds(1'767'323'045) +
             std::chrono::nanoseconds(6)};  // 2026-01-02T03:04:05
};

TEST_F(CriWriterTest, WritesLinesAsTheyEnd) {
  auto writer = CriWriter::create(path(), 1 << 20).value();
  writer.append(Stream::Stdout, "one\ntw", time_);
  writer.append(Stream::Stderr, "bad\n", time_);
  writer.append(Stream::Stdout, "o\n\nrest", time_);
  writer.flush(time_);
  const std::string at = "2026-01-02T03:04:05.000000006Z ";
  EXPECT_EQ(read_text(path()), at + "stdout F one\n" + at + "stderr F bad\n" + at +
                                   "stdout F two\n" + at + "stdout F \n" + at + "stdout P rest\n");
}

TEST_F(CriWriterTest, CutsLongLinesIntoPieces) {
  auto writer = CriWriter::create(path(), 1 << 20).value();
  const std::string line(kMaxPieceBytes * 2, 'x');
  writer.append(Stream::Stdout, line, time_);
  writer.append(Stream::Stdout, "\n", time_);
  std::vector<std::string_view> kinds;
  const auto text = read_text(path());
  for (const auto piece : split(text, '\n')) {
    if (piece.empty()) continue;
    kinds.push_back(piece.substr(38, 1));
    EXPECT_EQ(piece.size() - 40, kMaxPieceBytes);
  }
  EXPECT_EQ(kinds, (std::vector<std::string_view>{"P", "F"}));
}

TEST_F(CriWriterTest, KeepsWithinItsQuota) {
  auto writer = CriWriter::create(path(), 10'000).value();
  for (int i = 0; i < 1000; ++i)
    writer.append(Stream::Stdout, "line " + std::to_string(i) + "\n", time_);
  EXPECT_LE(fs::file_size(path()), 5'000U);
  EXPECT_LE(fs::file_size(path() + ".1"), 5'000U);
  EXPECT_TRUE(read_text(path()).ends_with("line 999\n"));
}

// A disk that takes no more than so many bytes of a file.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    before_ = ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &usual_);
    set(bytes);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
  ~FullDisk() {
    set(usual_.rlim_cur);
    static_cast<void>(::signal(SIGXFSZ, before_));
  }
  void set(rlim_t bytes) const {
    const rlimit limit{.rlim_cur = bytes, .rlim_max = usual_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  void end() const { set(usual_.rlim_cur); }

 private:
  rlimit usual_{};
  sighandler_t before_ = nullptr;
};

TEST_F(CriWriterTest, AFullDiskLosesNothingThatCanBeKept) {
  auto writer = CriWriter::create(path(), 1 << 20).value();
  const FullDisk disk(100);
  writer.append(Stream::Stdout, "one\ntwo\nthree\n", time_);
  writer.append(Stream::Stderr, "four\n", time_);
  EXPECT_TRUE(writer.holds_back());
  EXPECT_EQ(fs::file_size(path()), 100U) << "as much as goes";
  disk.end();
  writer.flush(time_);
  EXPECT_FALSE(writer.holds_back());
  const std::string at = "2026-01-02T03:04:05.000000006Z ";
  EXPECT_EQ(read_text(path()), at + "stdout F one\n" + at + "stdout F two\n" + at +
                                   "stdout F three\n" + at + "stderr F four\n");
}

TEST_F(CriWriterTest, WhatAFullDiskLosesIsSaid) {
  auto writer = CriWriter::create(path(), std::uint64_t{64} << 20U).value();
  const FullDisk disk(0);
  const std::string line(999, 'x');
  for (int i = 0; i < 3000; ++i) writer.append(Stream::Stdout, line + "\n", time_);
  writer.append(Stream::Stdout, "unfinished", time_);
  writer.flush(time_);
  disk.end();
  writer.append(Stream::Stdout, "after\n", time_);
  writer.append(Stream::Stdout, "at last\n", time_);
  EXPECT_FALSE(writer.holds_back());
  const auto text = read_text(path());
  const auto lines = split(std::string_view(text).substr(0, text.size() - 1), '\n');
  const auto kept = static_cast<std::size_t>(
      std::ranges::count_if(lines, [&](std::string_view one) { return one.ends_with(line); }));
  EXPECT_GT(kept * line.size(), kMostKeptBytes / 2);
  EXPECT_LT(kept * line.size(), kMostKeptBytes);
  ASSERT_EQ(lines.size(), kept + 3);
  const auto lost = (3000 - kept) * 1000 + std::string_view("unfinished").size();
  EXPECT_TRUE(lines[kept].ends_with("stderr F muster: " + std::to_string(lost) +
                                    " bytes of this log were lost: the disk was full"))
      << lines[kept];
  EXPECT_TRUE(lines[kept + 1].ends_with("stdout F after")) << lines[kept + 1];
  EXPECT_TRUE(lines[kept + 2].ends_with("stdout F at last")) << lines[kept + 2];
}

TEST_F(CriWriterTest, FollowsNoLink) {
  fs::create_directories(directory_ + "/c");
  fs::create_symlink(directory_ + "/elsewhere", path());
  EXPECT_FALSE(CriWriter::create(path(), 1000));
  EXPECT_FALSE(fs::exists(directory_ + "/elsewhere"));
}

TEST(Wire, ReadsBackWhatWasWritten) {
  ContainerSpec spec{.name = "main",
                     .attempt = 3,
                     .argv = {"a", std::string("b\0c", 3), ""},
                     .env = {{"K", "v"}},
                     .mounts = {{.source = "/s", .target = "/t", .read_only = true, .size = 9},
                                {.source = "/v", .below = "a/b", .target = "/u"}},
                     .limits = {.cpu_milli = 5},
                     .uid = 7,
                     .supplementary_groups = {1, 2}};
  const auto bytes = encode(spec);
  const auto back = decode<ContainerSpec>(bytes).value();
  EXPECT_EQ(encode(back), bytes);
  EXPECT_EQ(back.argv, spec.argv);
  EXPECT_EQ(back.uid, 7U);
  EXPECT_EQ(back.mounts.at(1).source, "/v");
  EXPECT_EQ(back.mounts.at(1).below, "a/b");
  EXPECT_FALSE(back.gid);
  // Every shorter one is refused, and none is read beyond its end.
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode<ContainerSpec>(std::string_view(bytes).substr(0, size)));
  }
}

TEST(Wire, RefusesFramesThatAreTooLarge) {
  std::string buffer("\xff\xff\xff\x7f", 4);
  EXPECT_EQ(take_frame(buffer).error().code, ErrorCode::TooLarge);
  buffer = frame("abc") + "\x01";
  EXPECT_EQ(take_frame(buffer).value().value(), "abc");
  EXPECT_FALSE(take_frame(buffer).value());
}

TEST(MountPoints, AreThoseDirectlyBelowTheRoot) {
  const auto points = top_mount_points(
      "21 1 8:1 / / rw - ext4 /dev/sda rw\n"
      "22 21 0:5 / /proc rw - proc proc rw\n"
      "30 21 8:2 / /home rw - ext4 /dev/sdb rw\n"
      "31 30 8:3 / /home/deep rw - ext4 /dev/sdc rw\n"
      "32 21 8:4 / /with\\040space rw - ext4 /dev/sdd rw\n");
  EXPECT_EQ(points, (std::vector<std::string>{"/proc", "/home", "/with space"}));
}

// The disk that logs are on is one of its own, as small as it gets.
class FullLogsTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    logs_ = home_ + "/logs";
    fs::create_directories(logs_);
    ASSERT_EQ(::mount("tmpfs", logs_.c_str(), "tmpfs", 0, "size=64k"), 0);
    std::ofstream(logs_ + "/fill") << std::string(100'000, 'x');
    open_runtime();
    pod("a");
  }
  void TearDown() override {
    if (runtime_) close_runtime();
    EXPECT_EQ(::umount2(logs_.c_str(), MNT_DETACH), 0);
    RuntimeTest::TearDown();
  }
  bool ends_within(std::chrono::milliseconds limit, int attempt) {
    return run(rt::with_timeout(*loop_, limit, runtime_->wait_container("a", "main", attempt)))
        .has_value();
  }

  std::string logs_;
};

TEST_F(FullLogsTest, AnEndWaitsForRoom) {
  start("a", container({"echo", "said"}));
  EXPECT_FALSE(ends_within(std::chrono::milliseconds(300), 0)) << "its log cannot be written";
  fs::remove(logs_ + "/fill");
  EXPECT_EQ(wait("a").exit_code, 0);
  EXPECT_EQ(output("a"), "said\n");
  remove("a");
}

TEST_F(FullLogsTest, NotThatOfAPodThatIsBeingEnded) {
  start("a", container({"sh", "-c", "echo said; exec sleep 1000"}));
  const auto begun = std::chrono::steady_clock::now();
  remove("a");
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(3));
}

}  // namespace
}  // namespace muster::node::shim
