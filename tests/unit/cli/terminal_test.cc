#include "cli/terminal/terminal.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/jobs/job_follower.h"
#include "cli/jobs/kept_logs.h"
#include "cli/terminal/columns.h"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

TEST(SafeLine, LetsNothingSteerTheTerminal) {
  EXPECT_EQ(safe_line("plain text", true), "plain text");
  EXPECT_EQ(safe_line("\x1b[31mred\x1b[0m", true), "\x1b[31mred\x1b[0m");
  EXPECT_EQ(safe_line("\x1b[31mred\x1b[0m", false), "red");
  EXPECT_EQ(safe_line("\x1b]0;title\x07rest", true).find('\x1b'), std::string::npos);
  EXPECT_EQ(safe_line("\x1b[2Jcleared", true).find('\x1b'), std::string::npos);
  EXPECT_EQ(safe_line("\xc2\x9b"
                      "31m",
                      true)
                .find("\xc2\x9b"),
            std::string::npos)
      << "C1 control";
  EXPECT_EQ(safe_line("torn \xe2\x82", true), "torn \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(LinePrefix, IsTheRolesInitialAndTheRank) {
  const Terminal plain{.utf8 = false};
  EXPECT_EQ(line_prefix(plain, "Worker", 3, false), "w3 | ");
  EXPECT_EQ(line_prefix(plain, "PS", 0, true), "ps0 | ");
  EXPECT_EQ(line_prefix(Terminal{.utf8 = true}, "Scheduler", 0, true), "s0 │ ");
}

TEST(ClockTime, CountsHoursMinutesSeconds) {
  EXPECT_EQ(clock_time(std::chrono::seconds(3723)), "1:02:03");
  EXPECT_EQ(clock_time(std::chrono::milliseconds(999)), "0:00:00");
}

TEST(Columns, AreAsWideAsTheirWidestCell) {
  EXPECT_EQ(columns({{"NAME", "AGE"}, {"a-long-name", "5s"}}),
            "NAME          AGE\na-long-name   5s\n");
}

TEST(RankFilter, MatchesRoleInAnyCaseAndRanks) {
  EXPECT_TRUE(RankFilter{}.accepts("Worker", 7));
  EXPECT_TRUE((RankFilter{.role = "worker", .ranks = {1}}.accepts("Worker", 1)));
  EXPECT_FALSE((RankFilter{.role = "worker"}.accepts("PS", 1)));
  EXPECT_FALSE((RankFilter{.ranks = {1}}.accepts("Worker", 2)));
}

class KeptLogs : public ::testing::Test {
 protected:
  KeptLogs() {
    char path[] = "/tmp/muster-kept.XXXXXX";
    home_ = ::mkdtemp(path);
  }
  ~KeptLogs() override { fs::remove_all(home_); }
  void write(const std::string& directory, const std::string& container, const std::string& file) {
    fs::create_directories(fs::path(home_) / "logs" / directory / container);
    std::ofstream(fs::path(home_) / "logs" / directory / container / file) << "x\n";
  }
  std::string home_;
};

TEST_F(KeptLogs, FindsTheNewestAttemptOfEveryRankOfOneJob) {
  write("ml_bert-worker-1_u1", "mindspore", "0.log");
  write("ml_bert-worker-1_u1", "mindspore", "1.log");
  write("ml_bert-scheduler-0_u2", "mindspore", "0.log");
  write("ml_bert-large-worker-0_u3", "mindspore", "0.log");  // another job
  write("other_bert-worker-0_u4", "mindspore", "0.log");     // another namespace
  std::vector<std::string> found;
  for (const auto& log : kept_logs(home_, "ml", "bert"))
    found.push_back(log.pod + "/" + std::to_string(log.attempt));
  EXPECT_THAT(found, ElementsAre("bert-scheduler-0/0", "bert-worker-1/1"));
}

TEST_F(KeptLogs, AHomeWithoutLogsHasNone) {
  EXPECT_TRUE(kept_logs(home_, "ml", "bert").empty());
}

}  // namespace
}  // namespace muster::cli
