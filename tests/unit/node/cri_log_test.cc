#include "node/logs/cri_log.h"

#include <fstream>
#include <limits>

#include "node/logs/log_source.h"
#include "unit/node/fixture.h"

namespace muster::node {
namespace {

constexpr const char* kText =
    "2026-11-15T03:04:05.000000001Z stdout F one\n"
    "2026-11-15T03:04:06.000000001Z stderr P tw\n"
    "2026-11-15T03:04:06.000000002Z stderr F o\n"
    "2026-11-15T03:04:07.000000001Z stdout F \n"
    "2026-11-15T03:04:08.000000001Z stdout F three\n";

std::string decode(std::string_view bytes, LogFilter filter = {}) {
  std::string out;
  CriLogDecoder decoder(filter);
  if (decoder.feed(bytes, out)) decoder.finish(out);
  return out;
}

TEST(CriLog, ParsesLines) {
  const auto line = parse_cri_line("2026-11-15T03:04:05Z stderr P a b");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->stream, LogStreamKind::Stderr);
  EXPECT_TRUE(line->partial);
  EXPECT_EQ(line->text, "a b");
  for (const char* bad :
       {"", "x", "t stdout", "t stdin F x", "t stdout X x", " stdout F x", "t stdout FF x"}) {
    EXPECT_FALSE(parse_cri_line(bad).has_value()) << bad;
  }
  EXPECT_EQ(parse_cri_line("t stdout F:tag x")->text, "x");
  EXPECT_EQ(parse_cri_line("t stdout F")->text, "");
}

TEST(CriLog, JoinsPartialLines) {
  EXPECT_EQ(decode(kText), "one\ntwo\n\nthree\n");
  EXPECT_EQ(decode(kText, {.timestamps = true}).substr(0, 70),
            "2026-11-15T03:04:05.000000001Z one\n2026-11-15T03:04:06.000000001Z two\n");
}

TEST(CriLog, AStreamDoesNotTearALineOfTheOther) {
  const std::string at = "2026-11-15T03:04:05Z ";
  const std::string bar = at + "stderr P \r 10%\n" + at + "stdout F loss 0.3\n" + at +
                          "stderr P \r 20%\n" + at + "stdout F loss 0.2\n";
  EXPECT_EQ(decode(bar + at + "stderr F \r 30%\n"), "loss 0.3\nloss 0.2\n\r 10%\r 20%\r 30%\n");
  EXPECT_EQ(decode(bar), "loss 0.3\nloss 0.2\n\r 10%\r 20%") << "never ended";
  EXPECT_EQ(decode(at + "stdout P a\n" + at + "stderr P b\n"), "a\nb") << "neither of them";
  EXPECT_EQ(decode(at + "stdout P \n" + at + "stdout F x\n"), "x\n");
}

TEST(CriLog, ALongLineIsPassedOnAsItComes) {
  const std::string at = "2026-11-15T03:04:05Z ";
  const std::string piece(60'000, 'x');
  std::string out;
  CriLogDecoder decoder({.timestamps = true});
  for (int i = 0; i < 2; ++i) decoder.feed(at + "stderr P " + piece + "\n", out);
  EXPECT_EQ(out, at + piece + piece);
  out.clear();
  decoder.feed(at + "stderr F end\n", out);
  EXPECT_EQ(out, "end\n");
  for (int i = 0; i < 2; ++i) decoder.feed(at + "stderr P " + piece + "\n", out);
  out.clear();
  decoder.feed(at + "stdout F other\n" + at + "stderr F end\n", out);
  EXPECT_EQ(out, "\n" + at + "other\n" + at + "end\n") << "broken where the other wrote";
}

TEST(CriLog, AnyChunksGiveTheSame) {
  for (std::size_t size = 1; size < 50; ++size) {
    std::string out;
    CriLogDecoder decoder({});
    for (std::size_t at = 0; at < std::string_view(kText).size(); at += size) {
      decoder.feed(std::string_view(kText).substr(at, size), out);
    }
    EXPECT_EQ(out, "one\ntwo\n\nthree\n") << size;
  }
}

TEST(CriLog, SinceAndLimit) {
  EXPECT_EQ(decode(kText, {.since = *parse_time("2026-11-15T03:04:07Z")}), "\nthree\n");
  EXPECT_EQ(decode(kText, {.limit_bytes = 5}), "one\nt");
  EXPECT_EQ(decode(kText, {.limit_bytes = 0}), "");
}

TEST(CriLog, ATornLineIsSkipped) {
  EXPECT_EQ(decode(std::string("garbage\n") + kText), "one\ntwo\n\nthree\n");
  EXPECT_EQ(decode("2026 stdout F unfinished"), "");
}

TEST(CriLog, AnEndlessLineCostsNoMoreThanItsBound) {
  std::string out;
  CriLogDecoder decoder({});
  decoder.feed("2026-11-15T03:04:05Z stdout F ", out);
  for (int i = 0; i < 1000; ++i) decoder.feed(std::string(1000, 'x'), out);
  EXPECT_LE(out.size(), 140'000U);
  decoder.feed("\n2026-11-15T03:04:05Z stdout F next\n", out);
  EXPECT_TRUE(out.ends_with("next\n"));
}

TEST(CriLog, TailCountsWholeLines) {
  const std::string_view text = kText;
  const auto tail = [&](std::size_t lines) {
    return decode(text.substr(tail_offset(text, lines)));
  };
  EXPECT_EQ(tail(0), "");
  EXPECT_EQ(tail(1), "three\n");
  EXPECT_EQ(tail(2), "\nthree\n");
  EXPECT_EQ(tail(3), "two\n\nthree\n");
  EXPECT_EQ(tail(4), "one\ntwo\n\nthree\n");
  EXPECT_EQ(tail(9), "one\ntwo\n\nthree\n");
}

class Logs : public NodeTest {
 protected:
  void write(const std::string& uid, const std::string& container, int attempt,
             std::string_view text) {
    std::ofstream out(runtime.log_path("", "", uid, container, attempt), std::ios::app);
    for (const auto line : split(text, '\n')) {
      out << "2026-11-15T03:04:05Z stdout F " << line << "\n";
    }
  }
  Result<std::unique_ptr<cluster::LogStream>> open(const cluster::LogOptions& wanted) {
    return agent->logs().open([this] { return agent->find_pod({.ns = "default", .name = "p"}); },
                              wanted);
  }
  std::string read(cluster::LogStream& stream) {
    std::string out;
    while (true) {
      auto chunk = loop.run(stream.next());
      EXPECT_TRUE(chunk.has_value());
      if (!chunk || !*chunk) return out;
      out += **chunk;
    }
  }
};

TEST_F(Logs, OfARunningContainer) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "serve"));
  loop.run_for(1s);
  write(uid, "main", 0, "a\nb\nc");
  auto all = open({});
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(read(**all), "a\nb\nc\n");
  auto tail = open({.tail_lines = 1});
  EXPECT_EQ(read(**tail), "c\n");
  EXPECT_EQ(read(**open({.since_seconds = std::numeric_limits<std::int64_t>::max()})), "a\nb\nc\n")
      << "longer ago than time can say";
  EXPECT_EQ(open({.previous = true}).error().code, ErrorCode::BadRequest);
}

TEST_F(Logs, FollowEndsWithTheContainer) {
  start();
  const auto uid = create(PodBuilder("p").restart("Never").container("main", "run 10 0"));
  loop.run_for(1s);
  write(uid, "main", 0, "a");
  auto stream = open({.follow = true});
  ASSERT_TRUE(stream.has_value());
  EXPECT_EQ(**loop.run((*stream)->next()), "a\n");
  write(uid, "main", 0, "b");
  EXPECT_EQ(**loop.run((*stream)->next()), "b\n");
  const auto before = loop.now();
  EXPECT_EQ(*loop.run((*stream)->next()), std::nullopt);
  EXPECT_GT(loop.now() - before, 8s) << "not before the container ended";
}

TEST_F(Logs, FollowGoesThroughARotation) {
  start();
  const auto uid = create(PodBuilder("p").restart("Never").container("main", "run 10 0"));
  loop.run_for(1s);
  const auto path = runtime.log_path("", "", uid, "main", 0);
  write(uid, "main", 0, "a");
  auto stream = open({.follow = true});
  EXPECT_EQ(**loop.run((*stream)->next()), "a\n");
  write(uid, "main", 0, "b");
  std::filesystem::rename(path, path + ".1");
  write(uid, "main", 0, "c");
  EXPECT_EQ(read(**stream), "b\nc\n");
  auto again = open({});
  EXPECT_EQ(read(**again), "a\nb\nc\n") << "both halves, the older one first";
}

TEST_F(Logs, PreviousIsTheAttemptBefore) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "run 5 1"));
  loop.run_for(6s);
  write(uid, "main", 0, "first");
  write(uid, "main", 1, "second");
  EXPECT_EQ(read(**open({})), "second\n");
  EXPECT_EQ(read(**open({.previous = true})), "first\n");
  loop.run_for(6s);
  ASSERT_EQ(waiting("p", "main"), "CrashLoopBackOff");
  EXPECT_EQ(read(**open({})), "second\n");
  EXPECT_EQ(read(**open({.previous = true})), "second\n");
}

TEST_F(Logs, AreKeptWhenThePodIsGone) {
  start();
  const auto uid = create(PodBuilder("p").container("main", "serve"));
  loop.run_for(1s);
  write(uid, "main", 0, "kept");
  cluster.request_deletion("default", "p", 0);
  loop.run_for(2s);
  ASSERT_EQ(phase("p"), "gone");
  FileLogStream stream(loop, runtime.log_path("default", "p", uid, "main", 0), {},
                       [] { return true; });
  EXPECT_EQ(read(stream), "kept\n");
}

TEST_F(Logs, OneOfSeveralContainersMustBeNamed) {
  start();
  create(PodBuilder("p").container("a", "serve").container("b", "serve"));
  loop.run_for(1s);
  const auto stream = open({});
  ASSERT_FALSE(stream.has_value());
  EXPECT_NE(stream.error().message.find("choose one of: [a b]"), std::string::npos);
}

}  // namespace
}  // namespace muster::node
