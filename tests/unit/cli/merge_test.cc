#include "cli/logs/merge.h"

#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rt/sim_loop.h"

namespace muster::cli {
namespace {

Time at(int second) {
  return Time{std::chrono::seconds(second)};
}

// A log that is handed out a few pieces at a time.
class ListedLog final : public ContainerLog {
 public:
  ListedLog(std::string name, std::deque<std::pair<int, std::string>> lines, std::size_t window = 2)
      : name_(std::move(name)), lines_(std::move(lines)), window_(window) {}
  void see(const ContainerProgress&) override {}
  Task<Result<std::vector<LogPiece>>> present() override {
    if (lines_.empty() && broken) co_return fail(ErrorCode::Forbidden, "no");
    std::vector<LogPiece> pieces;
    while (!lines_.empty() && pieces.size() < window_) {
      const auto& [second, text] = lines_.front();
      pieces.push_back({.at = at(second), .bytes = text});
      lines_.pop_front();
    }
    held += pieces.size();
    co_return pieces;
  }

  bool broken = false;
  std::size_t held = 0;

 private:
  std::string name_;
  std::deque<std::pair<int, std::string>> lines_;
  std::size_t window_;
};

class LogMergeTest : public ::testing::Test {
 protected:
  std::string merged(std::vector<ContainerLog*> logs, std::optional<std::size_t> tail = {}) {
    std::string text;
    LogMerge merge(
        loop_, std::move(logs),
        [&](std::size_t i, const LogPiece& piece) {
          text += std::to_string(i) + piece.bytes;
          return text.size() < most_;
        },
        [&](std::size_t i, const Error&) { refused_.push_back(i); });
    if (tail) merge.keep_tail(*tail);
    EXPECT_TRUE(loop_.run(merge.run()));
    return text;
  }
  rt::SimLoop loop_{Time{}};
  std::vector<std::size_t> refused_;
  std::size_t most_ = 1000;
};

TEST_F(LogMergeTest, IsInTheOrderOfTime) {
  ListedLog a("a", {{1, "a\n"}, {4, "d\n"}, {5, "e\n"}, {9, "i\n"}});
  ListedLog b("b", {{2, "b\n"}, {3, "c\n"}, {6, "f\n"}});
  ListedLog none("c", {});
  EXPECT_EQ(merged({&a, &none, &b}), "0a\n2b\n2c\n0d\n0e\n2f\n0i\n");
}

TEST_F(LogMergeTest, EqualTimesAreInTheOrderOfTheLogsAndNoLogIsReordered) {
  ListedLog a("a", {{1, "a\n"}, {1, "b\n"}, {1, "c\n"}});
  ListedLog b("b", {{1, "x\n"}, {0, "y\n"}});
  EXPECT_EQ(merged({&a, &b}), "0a\n0b\n0c\n1x\n1y\n");
}

TEST_F(LogMergeTest, TheTailIsOfAllTogetherAndOfWholeLines) {
  ListedLog a("a", {{1, "a\n"}, {4, "d"}, {4, "-"}, {4, "d\n"}});
  ListedLog b("b", {{2, "b\n"}, {3, "c\n"}, {6, "unfinished"}});
  EXPECT_EQ(merged({&a, &b}, 3), "1c\n0d-d\n1unfinished");
  ListedLog again("a", {{1, "a\n"}});
  EXPECT_EQ(merged({&again}, 0), "");
}

TEST_F(LogMergeTest, OneThatCannotBeReadDoesNotKeepTheOthers) {
  ListedLog a("a", {{1, "a\n"}, {3, "c\n"}});
  ListedLog b("b", {{2, "b\n"}});
  b.broken = true;
  EXPECT_EQ(merged({&a, &b}), "0a\n1b\n0c\n");
  EXPECT_EQ(refused_, std::vector<std::size_t>{1});
}

TEST_F(LogMergeTest, HoldsNoMoreThanAWindowOfEach) {
  std::deque<std::pair<int, std::string>> lines;
  for (int i = 0; i < 1000; ++i) lines.emplace_back(i, "x\n");
  ListedLog a("a", lines, 10);
  ListedLog b("b", lines, 10);
  most_ = 30;  // whoever reads is gone then
  merged({&a, &b});
  EXPECT_LE(a.held + b.held, 40U);
}

}  // namespace
}  // namespace muster::cli
