#include "cli/logs/api_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "log_server.h"
#include "rt/scope.h"
#include "rt/sim_loop.h"

namespace muster::cli {
namespace {

using namespace std::chrono_literals;

class ApiLogTest : public ::testing::Test {
 protected:
  ApiLog log(LogWindow window = {}, bool previous = false, bool goes_on = false) {
    return {loop,
            server,
            {.ns = "ml", .name = "p"},
            "main",
            window,
            {.previous = previous, .goes_on = goes_on, .on_trouble = [this](const Error& why) {
               troubles.push_back(why.message);
             }}};
  }
  void write(const std::string& time, const std::string& text) {
    server.runs.back().lines.push_back({"2026-11-15T03:04:" + time + "Z", text});
  }
  std::string present(ApiLog& log) {
    std::string text;
    while (true) {
      const auto pieces = loop.run(log.present());
      if (!pieces) return text + "! " + pieces.error().message;
      if (pieces->empty()) return text;
      for (const LogPiece& piece : *pieces) text += piece.bytes;
    }
  }
  // Follows until nothing comes any more.
  Task<void> follow(ApiLog& log) {
    while (true) {
      const auto pieces = co_await log.more();
      if (!pieces) followed += "! " + pieces.error().message;
      if (!pieces || pieces->empty()) break;
      for (const LogPiece& piece : *pieces) followed += piece.bytes;
    }
    done = true;
  }

  rt::SimLoop loop{Time{}};
  LogServer server{loop};
  std::vector<std::string> troubles;
  std::string followed;
  bool done = false;
};

TEST_F(ApiLogTest, ReadsOnBehindWhatCameBeforeTheConnectionBroke) {
  for (int i = 0; i < 20; ++i) write(i < 10 ? "05" : "06.5", "line " + std::to_string(i));
  std::string all;
  for (int i = 0; i < 20; ++i) all += "line " + std::to_string(i) + "\n";
  for (std::size_t cut = 0; cut < 600; cut += 13) {
    server.cuts = {cut};
    ApiLog reader = log();
    ASSERT_EQ(present(reader), all) << cut;
  }
}

TEST_F(ApiLogTest, HoldsNoConnectionWhenTold) {
  for (int i = 0; i < 5000; ++i) write("05", "a line that is repeated " + std::to_string(i));
  ApiLog reader = log();
  reader.hold_open(false);
  std::size_t lines = 0;
  while (true) {
    const auto pieces = loop.run(reader.present());
    ASSERT_TRUE(pieces);
    if (pieces->empty()) break;
    lines += pieces->size();
    EXPECT_EQ(server.open_streams, 0U);
  }
  EXPECT_EQ(lines, 5000U);
  EXPECT_GT(server.asked.size(), 2U) << "it was asked for piece by piece";
}

TEST_F(ApiLogTest, WhatIsRefusedIsAnErrorAtOnce) {
  server.refusals = {{.code = ErrorCode::Forbidden, .message = "pods/log is forbidden"}};
  ApiLog reader = log();
  EXPECT_EQ(present(reader), "! pods/log is forbidden");
  EXPECT_EQ(server.asked.size(), 1U);
}

TEST_F(ApiLogTest, AServerThatIsAwayForAMomentIsAskedAgain) {
  write("05", "a");
  server.refusals = {{.code = ErrorCode::Unavailable, .message = "away"}};
  ApiLog reader = log();
  EXPECT_EQ(present(reader), "a\n");
}

TEST_F(ApiLogTest, SinceAndTailAreForTheServer) {
  write("05", "a");
  ApiLog reader = log({.since = *parse_time("2026-11-15T03:04:00Z"), .tail = 7});
  present(reader);
  EXPECT_EQ(server.asked.front().tail_lines, 7);
  EXPECT_EQ(server.asked.front().since_time, *parse_time("2026-11-15T03:04:00Z"));
  EXPECT_TRUE(server.asked.front().timestamps);
}

TEST_F(ApiLogTest, FollowsThroughBrokenConnectionsUntilTheContainerIsOver) {
  ApiLog reader = log();
  reader.see({.started = true});
  rt::TaskScope scope(loop);
  server.cuts = {0, 30, 75, 1};
  server.refusals = {{.code = ErrorCode::Internal, .message = "dial tcp: refused"}};
  scope.spawn(follow(reader));
  for (int i = 0; i < 5; ++i) {
    write("0" + std::to_string(i / 2), "line " + std::to_string(i));
    loop.run_for(3s);
  }
  EXPECT_EQ(followed, "line 0\nline 1\nline 2\nline 3\nline 4\n");
  EXPECT_FALSE(done);
  write("09", "last words");
  server.runs.back().ended = true;
  loop.run_for(100ms);
  reader.see({.started = true, .over = true});
  loop.run_for(3s);
  EXPECT_THAT(followed, ::testing::EndsWith("line 4\nlast words\n"));
  EXPECT_TRUE(done);
  loop.run(scope.close());
}

TEST_F(ApiLogTest, AContainerThatStartsAgainIsFollowedOn) {
  ApiLog reader = log();
  reader.see({.started = true});
  rt::TaskScope scope(loop);
  scope.spawn(follow(reader));
  // The connection breaks, and what it says at last comes when nobody listens.
  server.cuts = {std::string_view("2026-11-15T03:04:01Z first\n").size()};
  write("01", "first");
  loop.run_for(25ms);
  EXPECT_EQ(followed, "first\n");
  EXPECT_EQ(server.open_streams, 0U);
  write("02", "first at last");
  server.runs.back().ended = true;
  server.runs.push_back({});
  write("03", "second");
  reader.see({.attempt = 1, .started = true});
  loop.run_for(5s);
  EXPECT_EQ(followed, "first\nfirst at last\nsecond\n");
  loop.run(scope.close());
}

TEST_F(ApiLogTest, ALineThatARunDidNotEndEndsWithIt) {
  ApiLog reader = log();
  reader.see({.started = true});
  rt::TaskScope scope(loop);
  scope.spawn(follow(reader));
  server.runs.back().lines.push_back({"2026-11-15T03:04:01Z", "Killed", ""});
  loop.run_for(1s);
  server.runs.back().ended = true;
  server.runs.push_back({});
  write("03", "second");
  reader.see({.attempt = 1, .started = true});
  loop.run_for(5s);
  EXPECT_EQ(followed, "Killed\nsecond\n");
  loop.run(scope.close());
}

// A tail may begin among lines that all have one time.
TEST_F(ApiLogTest, BehindATailItGoesOnWithoutRepeatingALine) {
  for (int i = 0; i < 10; ++i) write("05", "line " + std::to_string(i));
  ApiLog reader = log({.tail = 2}, false, true);
  reader.see({.started = true});
  EXPECT_THAT(present(reader), ::testing::EndsWith("line 8\nline 9\n"));
  rt::TaskScope scope(loop);
  scope.spawn(follow(reader));
  loop.run_for(1s);
  write("05", "line 10");
  write("06", "new");
  loop.run_for(1s);
  EXPECT_EQ(followed, "line 10\nnew\n");
  loop.run(scope.close());
}

TEST_F(ApiLogTest, ATailOfNothingDoesNotLimitWhatComes) {
  ApiLog reader = log({.tail = 1}, false, true);
  reader.see({.started = true});
  EXPECT_EQ(present(reader), "");
  for (int i = 0; i < 3; ++i) write("05", std::to_string(i));
  rt::TaskScope scope(loop);
  scope.spawn(follow(reader));
  loop.run_for(1s);
  EXPECT_EQ(followed, "0\n1\n2\n");
  loop.run(scope.close());
}

TEST_F(ApiLogTest, AFinishedContainerIsReadToItsEnd) {
  write("01", "all");
  server.runs.back().ended = true;
  ApiLog reader = log();
  reader.see({.started = true, .over = true});
  rt::TaskScope scope(loop);
  scope.spawn(follow(reader));
  loop.run_for(1s);
  EXPECT_EQ(followed, "all\n");
  EXPECT_TRUE(done);
  loop.run(scope.close());
}

TEST_F(ApiLogTest, WhatCannotBeReadForLongIsToldOnceAndTriedOn) {
  for (int i = 0; i < 6; ++i)
    server.refusals.push_back({.code = ErrorCode::Internal, .message = "refused"});
  write("01", "at last");
  ApiLog reader = log();
  reader.see({.started = true});
  rt::TaskScope scope(loop);
  scope.spawn(follow(reader));
  loop.run_for(60s);
  EXPECT_EQ(followed, "at last\n");
  EXPECT_EQ(troubles, std::vector<std::string>{"refused"});
  loop.run(scope.close());
}

}  // namespace
}  // namespace muster::cli
