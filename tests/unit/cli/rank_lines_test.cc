#include "cli/terminal/rank_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/terminal/rank_bars.h"
#include "fake_terminal.h"
#include "rt/sim_loop.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

LogOrigin worker(int index) {
  return {.pod = "j-worker-" + std::to_string(index),
          .container = "main",
          .role = "Worker",
          .index = index};
}

LogOrigin error_of(LogOrigin origin) {
  origin.error = true;
  return origin;
}

class RankLinesTest : public ::testing::Test {
 protected:
  void settle() { loop_.run_for(milliseconds(500)); }
  std::vector<std::string> rows() {
    settle();
    return terminal_.rows();
  }

  rt::SimLoop loop_{Time{}};
  FakeTerminal terminal_{100};
  Screen screen_{loop_,
                 terminal_,
                 {.out_is_terminal = true, .err_is_terminal = true, .utf8 = true, .width = 100}};
};

TEST_F(RankLinesTest, PrintsWholeLinesWithTheirRank) {
  RankLines lines(screen_, {});
  lines.bytes(worker(0), "", "one\ntw");
  lines.bytes(worker(1), "", "other\n\n");
  lines.bytes(worker(0), "", "o\n");
  EXPECT_THAT(rows(), ElementsAre("w0 │ one", "w1 │ other", "w1 │ ", "w0 │ two"));
}

TEST_F(RankLinesTest, AnyPiecesGiveTheSame) {
  const std::string text = "grün\r\n 10%|█\r 50%|█████\r100%|██████████\nno end 訓";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    FakeTerminal terminal(100);
    Screen screen(loop_, terminal, {.utf8 = true});
    RankLines lines(screen, {});
    for (std::size_t at = 0; at < text.size(); at += size)
      lines.bytes(worker(0), "", std::string_view(text).substr(at, size));
    lines.ended(worker(0));
    settle();
    EXPECT_THAT(terminal.rows(), ElementsAre("w0 │ grün", "w0 │ 100%|██████████", "w0 │ no end 訓"))
        << size;
  }
}

TEST_F(RankLinesTest, ABarMovesInTheStatusAndIsPrintedWhenItEnds) {
  RankLines lines(screen_, {});
  lines.bytes(worker(0), "", "start\n");
  lines.bytes(error_of(worker(0)), "", "\r 10%|█         |");
  EXPECT_THAT(rows(), ElementsAre("w0 │ start", "w0 │  10%|█         |"));
  lines.bytes(error_of(worker(0)), "", "\r 20%|██        |");
  lines.bytes(worker(0), "", "loss 0.3\n");
  EXPECT_THAT(rows(), ElementsAre("w0 │ start", "w0 │ loss 0.3", "w0 │  20%|██        |"))
      << "a line of the other stream is its own";
  lines.bytes(error_of(worker(0)), "", "\r100%|██████████|\n");
  EXPECT_THAT(rows(), ElementsAre("w0 │ start", "w0 │ loss 0.3", "w0 │ 100%|██████████|"));
}

TEST_F(RankLinesTest, RanksThatAgreeShareALine) {
  RankLines lines(screen_, {});
  for (const int index : {3, 1, 0, 2, 5}) lines.bytes(worker(index), "", "\r 45%|████▌     | 9/20");
  lines.bytes(worker(4), "", "\r 40%|████      | 8/20");
  EXPECT_THAT(rows(),
              ElementsAre("w0-w3,w5 │  45%|████▌     | 9/20", "w4 │  40%|████      | 8/20"));
}

TEST_F(RankLinesTest, WhatIsJustOnItsWayIsNotShown) {
  RankLines lines(screen_, {});
  lines.bytes(worker(0), "", "half a li");
  loop_.run_for(milliseconds(150));
  EXPECT_THAT(terminal_.rows(), ElementsAre());
  lines.bytes(worker(0), "", "ne\n");
  EXPECT_THAT(rows(), ElementsAre("w0 │ half a line"));
  EXPECT_EQ(terminal_.redraws, 0);
}

TEST_F(RankLinesTest, AQuestionWithoutANewlineIsSeen) {
  RankLines lines(screen_, {});
  lines.bytes(worker(0), "", "Continue? [y/n] ");
  EXPECT_THAT(rows(), ElementsAre("w0 │ Continue? [y/n] "));
  settle();
  EXPECT_EQ(terminal_.redraws, 1);
  lines.ended(worker(0));
  EXPECT_THAT(rows(), ElementsAre("w0 │ Continue? [y/n] ")) << "printed now, and once";
}

TEST_F(RankLinesTest, InAPipeABarIsOneLine) {
  FakeTerminal pipe(200);
  Screen screen(loop_, pipe, {});
  RankLines lines(screen, {});
  for (int i = 0; i <= 100; ++i) lines.bytes(worker(0), "", "\r" + std::to_string(i) + "% ");
  settle();
  EXPECT_THAT(pipe.rows(), ElementsAre());
  lines.bytes(worker(0), "", "\n");
  settle();
  EXPECT_THAT(pipe.rows(), ElementsAre("w0 | 100% "));
}

TEST_F(RankLinesTest, ALineWithoutAnEndIsCutBetweenCharacters) {
  FakeTerminal pipe(1 << 20);
  Screen screen(loop_, pipe, {.utf8 = true});
  RankLines lines(screen, {.prefix = false});
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "訓";
  lines.bytes(worker(0), "", "x" + text + "\n");
  for (std::size_t at = 0; at < text.size(); at += 1000)
    lines.bytes(worker(0), "", std::string_view(text).substr(at, 1000));
  lines.ended(worker(0));
  settle();
  const auto rows = pipe.rows();
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0], "x" + text) << "one that came whole is whole";
  EXPECT_EQ(rows[1] + rows[2] + rows[3], text);
}

TEST_F(RankLinesTest, NothingSteersTheTerminal) {
  RankLines lines(screen_, {.prefix = false});
  lines.bytes(worker(0), "",
              "\x1b[2J\x1b[Hhome\n\x1b[2K\rbar\x1b[K\n\x07"
              "bell\n\x1b]0;title\x07x\n");
  EXPECT_THAT(rows(), ElementsAre("home", "bar", "?bell", "]0;title?x"));
}

TEST_F(RankLinesTest, ColoursEndWithTheirLine) {
  FakeTerminal terminal(100);
  Screen screen(loop_, terminal, {.color = true, .utf8 = true});
  RankLines lines(screen, {.prefix = false});
  lines.bytes(worker(0), "", "\x1b[31mred\nplain\n");
  settle();
  EXPECT_THAT(terminal.rows(), ElementsAre("red", "plain"));
  EXPECT_EQ(terminal.bytes, "\x1b[31mred\x1b[0m\nplain\n");
}

TEST_F(RankLinesTest, ABarThatMovesForHoursIsOneLine) {
  RankLines lines(screen_, {});
  for (int i = 0; i < 20'000; ++i) lines.bytes(worker(0), "", "\r 10%|=         |");
  lines.bytes(worker(0), "", "\r100%|==========|\n");
  EXPECT_THAT(rows(), ElementsAre("w0 │ 100%|==========|"));
}

TEST_F(RankLinesTest, OfSeveralJobsEachLineSaysWhose) {
  RankLines bert(screen_, {.job = "bert"});
  RankLines gpt(screen_, {.job = "gpt"});
  bert.bytes(worker(0), "", "one\n");
  gpt.bytes(worker(0), "", "two\n");
  EXPECT_THAT(rows(), ElementsAre("bert w0 │ one", "gpt w0 │ two"));
}

TEST_F(RankLinesTest, TimesComeBeforeTheText) {
  RankLines lines(screen_, {.timestamps = true});
  lines.bytes(worker(0), "T1", "on");
  lines.bytes(worker(0), "T2", "e\n");
  lines.bytes(worker(0), "T3", "two\n");
  EXPECT_THAT(rows(), ElementsAre("w0 │ T1 one", "w0 │ T3 two"));
}

TEST_F(RankLinesTest, ContainersOfAPodAreToldApart) {
  RankLines lines(screen_, {});
  lines.bytes({.pod = "p", .container = "main"}, "", "alone\n");
  lines.bytes({.pod = "q", .container = "side", .alone = false}, "", "not alone\n");
  EXPECT_THAT(rows(), ElementsAre("alone", "side | not alone"));
}

RankBar bar(int index, std::string text) {
  return {.role = "Worker", .index = index, .text = std::move(text)};
}

TEST(MergedBars, TimeAndSpeedNeedNotAgree) {
  const Terminal terminal{.utf8 = true};
  EXPECT_THAT(merged_bars(terminal,
                          {bar(0, " 45%|████▌     | 45/100 [00:04<00:05,  9.98it/s, loss=0.31]"),
                           bar(1, " 45%|████▌     | 45/100 [00:04<00:06,  9.02it/s, loss=0.33]"),
                           bar(2, "45it [00:04, 9.98it/s]"), bar(3, "45it [00:05, 9.1it/s]"),
                           bar(4, "fetch [##  ] 40%"), bar(5, "fetch [#   ] 20%")},
                          9),
              ElementsAre("w0-w1 │  45%|████▌     | 45/100 [00:04<00:05,  9.98it/s, loss=0.31]",
                          "w2-w3 │ 45it [00:04, 9.98it/s]", "w4 │ fetch [##  ] 40%",
                          "w5 │ fetch [#   ] 20%"));
}

TEST(MergedBars, WhatDoesNotFitIsCounted) {
  const std::vector<RankBar> bars = {bar(0, "a"), bar(1, "b"), bar(2, "c"), bar(3, "d"),
                                     bar(4, "d")};
  EXPECT_THAT(merged_bars({}, bars, 4), ElementsAre("w0 | a", "w1 | b", "w2 | c", "w3-w4 | d"));
  EXPECT_THAT(merged_bars({}, bars, 3), ElementsAre("w0 | a", "w1 | b", "3 more ranks"));
  EXPECT_THAT(merged_bars({}, bars, 1), ElementsAre("5 more ranks"));
  EXPECT_THAT(merged_bars({}, bars, 0), ElementsAre());
}

TEST(LastState, IsWhatATerminalWouldShow) {
  EXPECT_EQ(last_state("plain"), "plain");
  EXPECT_EQ(last_state("crlf\r"), "crlf");
  EXPECT_EQ(last_state("\r 1%\r 2%"), " 2%");
  EXPECT_EQ(last_state(" 1%\r 2%\r"), " 2%");
  EXPECT_EQ(last_state("\r"), "");
}

}  // namespace
}  // namespace muster::cli
