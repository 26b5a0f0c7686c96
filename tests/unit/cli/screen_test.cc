#include "cli/terminal/screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_terminal.h"
#include "rt/sim_loop.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

class ScreenTest : public ::testing::Test {
 protected:
  [[nodiscard]] Terminal described(int width = 40, int height = 10) {
    window_ = {.columns = width, .rows = height};
    return {.out_is_terminal = true,
            .err_is_terminal = true,
            .utf8 = true,
            .width = width,
            .height = height,
            .measure = [this] { return std::optional(window_); }};
  }
  void resize(Screen& screen, int width) {
    terminal_.resize(width);
    window_.columns = width;
    screen.resized();
    settle();
  }
  void settle() { loop_.run_for(milliseconds(200)); }

  rt::SimLoop loop_{Time{}};
  FakeTerminal terminal_{40};
  rt::WindowSize window_;
};

TEST_F(ScreenTest, LinesComeAboveTheStatus) {
  {
    Screen screen(loop_, terminal_, described());
    screen.status({StatusLine("bars"), StatusLine("bert Running 0:00:01")});
    settle();
    EXPECT_THAT(terminal_.rows(), ElementsAre("bars", "bert Running 0:00:01"));
    screen.job_line("w0 | one");
    screen.job_line("w1 | two");
    settle();
    screen.note("   Waiting  for nothing");
    screen.job_line("w0 | three");
    settle();
    EXPECT_THAT(terminal_.rows(), ElementsAre("w0 | one", "w1 | two", "   Waiting  for nothing",
                                              "w0 | three", "bars", "bert Running 0:00:01"));
    screen.status({StatusLine("bert Running 0:00:02")});
    settle();
    screen.job_line("w0 | last");
  }
  EXPECT_THAT(terminal_.rows(), ElementsAre("w0 | one", "w1 | two", "   Waiting  for nothing",
                                            "w0 | three", "w0 | last"))
      << "what is held is written at the end, and the area goes";
}

TEST_F(ScreenTest, TheFirstLineAfterAPauseIsWrittenAtOnce) {
  Screen screen(loop_, terminal_, described());
  screen.status({StatusLine("starting")});
  loop_.drain();
  loop_.run_for(milliseconds(10));
  screen.job_line("w0 | first");
  loop_.run_for(milliseconds(1));
  EXPECT_EQ(terminal_.rows().front(), "w0 | first");
  settle();
  EXPECT_THAT(terminal_.rows(), ElementsAre("w0 | first", "starting"));
}

TEST_F(ScreenTest, RedrawsAtMostTwentyTimesASecond) {
  Screen screen(loop_, terminal_, described());
  std::vector<std::string> wanted;
  int longest_away = 0;
  for (int i = 0; i < 5000; ++i) {
    screen.status({StatusLine("at " + std::to_string(i))});
    screen.job_line("line " + std::to_string(i));
    wanted.push_back("line " + std::to_string(i));
    loop_.run_for(milliseconds(1));
    longest_away = terminal_.last_line().starts_with("at ") ? 0 : longest_away + 1;
    ASSERT_LE(longest_away, 50) << "at millisecond " << i;
  }
  EXPECT_LE(terminal_.redraws, 5 * 20 + 1);
  EXPECT_GE(terminal_.redraws, 90);
  EXPECT_LE(terminal_.writes, 5 * 20 + 1) << "lines are written together";
  settle();
  wanted.emplace_back("at 4999");
  EXPECT_EQ(terminal_.rows(), wanted);
}

TEST_F(ScreenTest, WhatDidNotChangeIsNotDrawnAgain) {
  Screen screen(loop_, terminal_, described());
  for (int i = 0; i < 10; ++i) {
    screen.status({StatusLine("the same")});
    settle();
  }
  EXPECT_EQ(terminal_.redraws, 1);
}

TEST_F(ScreenTest, ALongNameLosesItsMiddleAndHidesNothing) {
  Screen screen(loop_, terminal_, described());
  const std::string name = "llama-70b-pretraining-with-a-very-long-name-run-17";
  screen.status({StatusLine(" ", name, " Running 0:00:07  ranks 4/4")});
  settle();
  EXPECT_THAT(terminal_.rows(), ElementsAre(" llama…un-17 Running 0:00:07  ranks 4/4"));
  resize(screen, 100);
  EXPECT_THAT(terminal_.rows(), ElementsAre(" " + name + " Running 0:00:07  ranks 4/4"));
  resize(screen, 30);
  EXPECT_THAT(terminal_.rows(), ElementsAre(" llam…-17 Running 0:00:07  r…"));
}

TEST_F(ScreenTest, WithoutUnicodeItIsAscii) {
  Terminal plain = described();
  plain.utf8 = false;
  Screen screen(loop_, terminal_, plain);
  screen.status({StatusLine("w0 │  45%|████▌ é", "", ""),
                 StatusLine("", "a-name-that-is-much-longer-than-the-window", " 0:00:07")});
  settle();
  EXPECT_THAT(terminal_.rows(),
              ElementsAre("w0 |  45%|##### ?", "a-name-that-is...han-the-window 0:00:07"));
}

TEST_F(ScreenTest, AResizedWindowShowsNothingTwice) {
  Screen screen(loop_, terminal_, described());
  const std::vector<StatusLine> status = {StatusLine("one   " + std::string(30, '-')),
                                          StatusLine("two   " + std::string(30, '-'))};
  std::vector<std::string> lines;
  screen.status(status);
  settle();
  for (const int width : {15, 60, 23, 38, 80, 10, 40}) {
    resize(screen, width);
    screen.job_line("at " + std::to_string(width));
    settle();
    lines.push_back("at " + std::to_string(width));
    auto wanted = lines;
    for (const auto& line : status) {
      wanted.push_back(line.after.size() < static_cast<std::size_t>(width)
                           ? line.after
                           : line.after.substr(0, static_cast<std::size_t>(width) - 2) + "…");
    }
    EXPECT_EQ(terminal_.rows(), wanted) << width;
  }
}

// It may have been narrower in between, and what that made of the area is not known.
TEST_F(ScreenTest, AWindowThatIsAsWideAsBeforeIsDrawnAnew) {
  Screen screen(loop_, terminal_, described());
  screen.status({StatusLine("bert Running 0:00:01")});
  settle();
  const int before = terminal_.redraws;
  resize(screen, 40);
  EXPECT_EQ(terminal_.redraws, before + 1);
}

TEST_F(ScreenTest, TheAreaIsNeverHigherThanTheWindow) {
  Screen screen(loop_, terminal_, described(40, 4));
  screen.status(std::vector<StatusLine>(6, StatusLine("status")));
  settle();
  EXPECT_THAT(terminal_.rows(), ElementsAre("status", "status", "status"));
}

TEST_F(ScreenTest, ATerminalThatCutsItsLinesLosesNoneOfTheJob) {
  Screen screen(loop_, terminal_, described());
  screen.job_line("kept");
  screen.status({StatusLine(std::string(38, '-')), StatusLine(std::string(38, '='))});
  settle();
  terminal_.resize_cutting(20);
  window_.columns = 20;
  screen.resized();
  settle();
  EXPECT_THAT(terminal_.rows(),
              ElementsAre("kept", std::string(18, '-') + "…", std::string(18, '=') + "…"));
}

TEST_F(ScreenTest, AWindowThatIsNarrowerThanWeKnowWrapsNothing) {
  Screen screen(loop_, terminal_, described());
  terminal_.resize(20);
  screen.status({StatusLine(std::string(38, '-')), StatusLine("below")});
  settle();
  screen.clear_status();
  EXPECT_THAT(terminal_.rows(), ElementsAre());
}

TEST_F(ScreenTest, WhatOthersWriteTakesTheAreaAwayFirst) {
  Screen screen(loop_, terminal_, described());
  screen.status({StatusLine("one"), StatusLine("two")});
  settle();
  terminal_.note("error: {}\n", "something");
  terminal_.print("{}\n", "asked for");
  terminal_.flush();
  settle();
  EXPECT_THAT(terminal_.rows(), ElementsAre("error: something", "asked for", "one", "two"));
}

TEST_F(ScreenTest, WithoutATerminalThereAreOnlyLines) {
  Screen screen(loop_, terminal_, {});
  screen.status({StatusLine("status")});
  screen.job_line("line");
  settle();
  EXPECT_THAT(terminal_.rows(), ElementsAre("line"));
  EXPECT_EQ(terminal_.redraws, 0);
  EXPECT_EQ(loop_.timers(), 0U) << "and nobody wakes up for it";
}

TEST_F(ScreenTest, LinesForAPipeLeaveTheAreaAlone) {
  Terminal piped = described();
  piped.out_is_terminal = false;
  class Piped final : public Output {
   public:
    explicit Piped(FakeTerminal& terminal) : terminal_(terminal) {}
    void write(std::string_view text) override { out += text; }
    void write_error(std::string_view text) override { terminal_.write_error(text); }
    void flush() override {}
    void draw(std::string_view text) override { terminal_.draw(text); }
    void on_broken(std::function<void()> /*action*/) override {}
    std::string out;

   private:
    FakeTerminal& terminal_;
  } output(terminal_);
  Screen screen(loop_, output, piped);
  screen.status({StatusLine("status")});
  settle();
  for (int i = 0; i < 5; ++i) {
    screen.job_line("line");
    settle();
  }
  EXPECT_EQ(output.out, "line\nline\nline\nline\nline\n");
  EXPECT_THAT(terminal_.rows(), ElementsAre("status"));
  EXPECT_EQ(terminal_.redraws, 1);
}

TEST_F(ScreenTest, TheAreaLeavesRoomInAFlatWindow) {
  Screen screen(loop_, terminal_, described(40, 6));
  std::size_t asked = 0;
  const Screen::Part part(screen, [&](std::size_t most) {
    asked = most;
    return std::vector<StatusLine>(most, StatusLine("bar"));
  });
  screen.status({StatusLine("status")});
  settle();
  EXPECT_EQ(asked, 3U);
  EXPECT_THAT(terminal_.rows(), ElementsAre("bar", "bar", "bar", "status"));
}

TEST_F(ScreenTest, NothingInAStatusSteersTheTerminal) {
  Screen screen(loop_, terminal_, described());
  screen.status({StatusLine("Failed: a\nb\tc\r\x1b[2Jd")});
  settle();
  EXPECT_THAT(terminal_.rows(), ElementsAre("Failed: a b c?d"));
}

}  // namespace
}  // namespace muster::cli
