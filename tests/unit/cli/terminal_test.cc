#include "cli/terminal/terminal.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

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
  EXPECT_EQ(safe_line("of sshd\r", true), "of sshd");
  EXPECT_EQ(safe_line("over\rwritten", true), "over?written");
  EXPECT_EQ(safe_line("\xEF\xBF\xBE\xEF\xBF\xBF", true), "\xEF\xBF\xBD\xEF\xBF\xBD")
      << "none at all";
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

}  // namespace
}  // namespace muster::cli
