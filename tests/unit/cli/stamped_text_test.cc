#include "cli/logs/stamped_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

std::string joined(const std::vector<LogPiece>& pieces) {
  std::string text;
  for (const LogPiece& piece : pieces) text += piece.bytes;
  return text;
}

// What a server with these lines answers to a reader who asks from that time on, in whole seconds.
std::string answer(const std::vector<std::string>& lines, std::optional<Time> since) {
  std::string text;
  for (const std::string& line : lines) {
    const auto at = parse_time(line.substr(0, line.find(' ')));
    if (!since || *at >= *since) text += line + "\n";
  }
  return text;
}

const std::vector<std::string> kLines = {
    "2026-11-15T03:04:05.1Z a",  "2026-11-15T03:04:05.25Z b",       "2026-11-15T03:04:05.25Z b",
    "2026-11-15T03:04:05.25Z c", "2026-11-15T03:04:05.250000001Z ", "2026-11-15T03:04:07Z d e"};
constexpr const char* kText = "a\nb\nb\nc\n\nd e\n";

TEST(StampedText, GivesLinesWithTheirTimes) {
  StampedText text;
  std::vector<LogPiece> pieces;
  text.feed(answer(kLines, std::nullopt), pieces);
  EXPECT_EQ(joined(pieces), kText);
  EXPECT_EQ(pieces.front().time, "2026-11-15T03:04:05.1Z");
  EXPECT_EQ(pieces.back().at, *parse_time("2026-11-15T03:04:07Z"));
}

// A server counts in seconds and many lines have one time: still nothing is missed or repeated,
// wherever the connection broke.
TEST(StampedText, GoesOnWhereverItWasCut) {
  const std::string all = answer(kLines, std::nullopt);
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    for (std::size_t again = 0; again <= all.size(); again += 7) {
      StampedText text;
      std::vector<LogPiece> pieces;
      text.feed(all.substr(0, cut), pieces);
      text.begin_again();
      text.feed(answer(kLines, text.resume_from()).substr(0, again), pieces);
      text.begin_again();
      text.feed(answer(kLines, text.resume_from()), pieces);
      ASSERT_EQ(joined(pieces), kText) << cut << " " << again;
    }
  }
}

TEST(StampedText, AnUnfinishedLineIsGivenAtOnceAndOnce) {
  StampedText text;
  std::vector<LogPiece> pieces;
  text.feed("2026-11-15T03:04:05Z \r 10%", pieces);
  EXPECT_EQ(joined(pieces), "\r 10%");
  text.feed("\r 20%", pieces);
  EXPECT_EQ(joined(pieces), "\r 10%\r 20%");
  text.begin_again();
  text.feed("2026-11-15T03:04:05Z \r 10%\r 20%\r 30%\n", pieces);
  EXPECT_EQ(joined(pieces), "\r 10%\r 20%\r 30%\n");
}

TEST(StampedText, ALogThatWasCutAtItsBeginningIsReadOn) {
  StampedText text;
  std::vector<LogPiece> pieces;
  text.feed("2026-11-15T03:04:05Z a\n2026-11-15T03:04:06Z b\n", pieces);
  text.begin_again();  // rotated meanwhile: the old lines are no longer there
  text.feed("2026-11-15T03:04:07Z c\n", pieces);
  EXPECT_EQ(joined(pieces), "a\nb\nc\n");
}

TEST(StampedText, ATimeThatGoesBackLosesNothing) {
  StampedText text;
  std::vector<LogPiece> pieces;
  text.feed("2026-11-15T03:04:06Z a\n2026-11-15T03:04:05Z b\n2026-11-15T03:04:06Z c\n", pieces);
  EXPECT_EQ(joined(pieces), "a\nb\nc\n");
}

TEST(StampedText, ATimeThatIsTooLongIsText) {
  StampedText text;
  std::vector<LogPiece> pieces;
  const std::string digits(60, '0');
  text.feed("2026-11-15T03:04:06Z a\n2026-11-15T03:04:07." + digits + "Z", pieces);
  text.feed("b\n2026-11-15T03:04:08." + digits + "Z c\n", pieces);
  EXPECT_EQ(joined(pieces),
            "a\n2026-11-15T03:04:07." + digits + "Zb\n2026-11-15T03:04:08." + digits + "Z c\n");
}

TEST(StampedText, WhatHasNoTimeIsTextToo) {
  StampedText text;
  std::vector<LogPiece> pieces;
  text.feed("2026-11-15T03:04:06Z a\nunable to retrieve container logs\nshort\n", pieces);
  EXPECT_EQ(joined(pieces), "a\nunable to retrieve container logs\nshort\n");
}

}  // namespace
}  // namespace muster::cli
