#include "cli/logs/api_log.h"

#include <deque>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rt/scope.h"
#include "rt/sim_loop.h"

namespace muster::cli {
namespace {

using namespace std::chrono_literals;

struct Line {
  std::string time;
  std::string text;
};

// One container's log as an API server gives it: lines with times, a stream that may break at any
// byte, the present run and the one before.
class LogServer final : public cluster::Cluster {
 public:
  explicit LogServer(rt::Loop& loop) : loop_(loop) {}

  struct Run {
    std::vector<Line> lines;
    bool ended = false;
  };
  std::vector<Run> runs = {{}};
  std::deque<std::size_t> cuts;  // the next streams break after so many bytes
  std::deque<Error> refusals;    // the next requests are answered so
  std::vector<cluster::LogOptions> asked;
  std::size_t open_streams = 0;

  Task<Result<std::unique_ptr<cluster::LogStream>>> log(cluster::ObjectKey,
                                                        cluster::LogOptions options) override {
    asked.push_back(options);
    if (!refusals.empty()) {
      const Error error = refusals.front();
      refusals.pop_front();
      co_return fail(error);
    }
    co_return std::make_unique<Stream>(*this, options);
  }

  Task<Result<cluster::ListPage>> list(const cluster::Resource&, cluster::ListOptions) override {
    co_return none();
  }
  Task<Result<std::unique_ptr<cluster::Watch>>> watch(const cluster::Resource&,
                                                      cluster::WatchOptions) override {
    co_return none();
  }
  Task<Result<cluster::ObjectPtr>> get(const cluster::Resource&, cluster::ObjectKey) override {
    co_return none();
  }
  Task<Result<cluster::ObjectPtr>> create(const cluster::Resource&, json::Value) override {
    co_return none();
  }
  Task<Result<cluster::ObjectPtr>> update(const cluster::Resource&, json::Value) override {
    co_return none();
  }
  Task<Result<cluster::ObjectPtr>> update_status(const cluster::Resource&, json::Value) override {
    co_return none();
  }
  Task<Result<cluster::ObjectPtr>> remove(const cluster::Resource&, cluster::ObjectKey,
                                          cluster::DeleteOptions) override {
    co_return none();
  }
  Task<Result<void>> bind(cluster::ObjectKey, std::string, std::string) override {
    co_return none();
  }
  Task<Result<cluster::Token>> create_token(cluster::ObjectKey, cluster::TokenRequest) override {
    co_return none();
  }

 private:
  static std::unexpected<Error> none() { return fail(ErrorCode::MethodNotAllowed, "logs only"); }

  class Stream final : public cluster::LogStream {
   public:
    Stream(LogServer& server, const cluster::LogOptions& options)
        : server_(server),
          options_(options),
          run_(server.runs.size() - (options.previous ? 2 : 1)) {
      ++server_.open_streams;
      if (!server_.cuts.empty()) {
        left_ = server_.cuts.front();
        server_.cuts.pop_front();
      }
    }
    ~Stream() override { --server_.open_streams; }

    Task<Result<std::optional<std::string>>> next() override {
      while (true) {
        const Run& run = server_.runs[run_];
        while (line_ < run.lines.size()) {
          const Line& line = run.lines[line_++];
          if (options_.since_time && *parse_time(line.time) < *options_.since_time) continue;
          std::string text = line.time + " " + line.text + "\n";
          if (!left_) co_return text;
          if (*left_ == 0) co_return fail(ErrorCode::Unavailable, "the connection broke");
          text.resize(std::min(*left_, text.size()));
          *left_ -= text.size();
          co_return text;
        }
        if (left_ && *left_ == 0) co_return fail(ErrorCode::Unavailable, "the connection broke");
        if (run.ended || !options_.follow || run_ + 1 < server_.runs.size()) co_return std::nullopt;
        CO_TRY(co_await rt::sleep_for(server_.loop_, 10ms));
      }
    }

   private:
    LogServer& server_;
    cluster::LogOptions options_;
    std::size_t run_;
    std::size_t line_ = 0;
    std::optional<std::size_t> left_;
  };

  rt::Loop& loop_;
};

class ApiLogTest : public ::testing::Test {
 protected:
  ApiLog log(LogWindow window = {}, bool previous = false) {
    return {loop,
            server,
            {.ns = "ml", .name = "p"},
            "main",
            window,
            {.previous = previous,
             .on_trouble = [this](const Error& why) { troubles.push_back(why.message); }}};
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
  write("01", "first");
  loop.run_for(1s);
  server.cuts = {0, 0};  // and what it says at last comes when nobody listens
  write("02", "first at last");
  server.runs.back().ended = true;
  server.runs.push_back({});
  write("03", "second");
  reader.see({.attempt = 1, .started = true});
  loop.run_for(5s);
  EXPECT_EQ(followed, "first\nfirst at last\nsecond\n");
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
