#include <sys/resource.h>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/history/run_record.h"
#include "cli/verbs/verbs.h"
#include "log_files.h"
#include "verb_fixture.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class LogsVerb : public VerbTest {
 protected:
  LogsVerb() : toy_(kind("Toy", "toy.dev")) {}

  // A run that is over and of which nothing is left but its logs.
  void begin_run(const std::string& uid, int second, const std::string& name = "bert") {
    record_({.ns = "default",
             .name = name,
             .kind = "Toy",
             .resource = "toys.toy.dev",
             .uid = uid,
             .created = Time{std::chrono::seconds(1'790'000'000 + second)}});
  }
  void rank(const std::string& run, int index, const std::string& log, bool failed = false,
            const std::string& made = "") {
    RecordedPod pod{.name = fmt::format("bert-rank-{}", index),
                    .uid = fmt::format("{}-{}{}", run, index, made),
                    .role = "Rank",
                    .index = index,
                    .containers = {"main"},
                    .failed = failed};
    ASSERT_TRUE(append_line(home(), run, pod_line(pod)));
    append_log(home(), "default_" + pod.name + "_" + pod.uid, "main/0.log", log);
  }
  Outcome logs_of(LogsOptions options) {
    return outcome([&](Context& context) { return logs(context, options); });
  }

 private:
  void record_(const RunRecord& run) { ASSERT_TRUE(append_line(home(), run.uid, begin_line(run))); }
  const ToyKind& toy_;
};

TEST_F(LogsVerb, OfManyRanksNeedsFewDescriptorsAndMergesByTime) {
  begin_run("aaaaaaaa", 0);
  for (int i = 0; i < 1200; ++i) {
    rank("aaaaaaaa", i,
         record(i % 60, fmt::format("{} a", i)) + record(59.5, fmt::format("{} b", i)));
  }
  outcome([](Context& context) { return history(context, {}); });  // the server has its own by now
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{.rlim_cur = 100, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  const Outcome shown = logs_of({.name = "bert", .prefix = false});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(shown.code, 0) << shown.err;
  const auto lines = split(shown.out, '\n');
  ASSERT_EQ(lines.size(), 2401U);
  EXPECT_EQ(lines[0], "0 a");
  EXPECT_EQ(lines[1], "60 a");
  EXPECT_EQ(lines[1200], "0 b");
  EXPECT_EQ(lines[2399], "1199 b");
}

TEST_F(LogsVerb, ShowsTheLatestRunOnly) {
  begin_run("aaaaaaaa", 0);
  rank("aaaaaaaa", 0, record(1, "old"));
  rank("aaaaaaaa", 1, record(1, "old"));
  begin_run("abbbbbbb", 9);
  rank("abbbbbbb", 0, record(2, "new"));
  EXPECT_EQ(logs_of({.name = "bert", .prefix = false}).out, "new\n");
  EXPECT_EQ(logs_of({.name = "toys/bert@aa", .prefix = false}).out, "old\nold\n");
  const Outcome two = logs_of({.name = "bert@a"});
  EXPECT_EQ(two.code, 1);
  EXPECT_THAT(two.err, HasSubstr("abbbbbbb or aaaaaaaa"));
  EXPECT_THAT(logs_of({.name = "bert@c"}).err, HasSubstr("no run bert@c in namespace default"));
  EXPECT_EQ(logs_of({.name = "bert@"}).code, 2);
}

TEST_F(LogsVerb, OfARankThatWasMadeAnewShowsItsLastPod) {
  begin_run("aaaaaaaa", 0);
  rank("aaaaaaaa", 0, record(1, "first"), true, "first");
  rank("aaaaaaaa", 0, record(2, "second"));
  EXPECT_EQ(logs_of({.name = "bert", .prefix = false}).out, "second\n");
  EXPECT_EQ(logs_of({.name = "bert", .previous = true, .prefix = false}).out, "first\n");
}

TEST_F(LogsVerb, OfARankByTheNameOfItsPod) {
  begin_run("aaaaaaaa", 0);
  rank("aaaaaaaa", 0, record(1, "zero"));
  rank("aaaaaaaa", 1, record(1, "one"));
  EXPECT_EQ(logs_of({.name = "bert-rank-1", .prefix = false}).out, "one\n");
  EXPECT_EQ(logs_of({.name = "pods/bert-rank-0", .prefix = false}).out, "zero\n");
  EXPECT_EQ(logs_of({.name = "toys/bert-rank-0"}).code, 1);
}

TEST_F(LogsVerb, OnlyThoseThatFailed) {
  begin_run("aaaaaaaa", 0);
  rank("aaaaaaaa", 0, record(1, "fine"));
  EXPECT_THAT(logs_of({.name = "bert", .failed = true}).err, HasSubstr("no rank of bert failed"));
  rank("aaaaaaaa", 1, record(1, "broken"), true);
  EXPECT_EQ(logs_of({.name = "bert", .failed = true, .prefix = false}).out, "broken\n");
}

TEST_F(LogsVerb, ARankThatThereIsNotIsAnErrorThatNamesThoseThereAre) {
  begin_run("aaaaaaaa", 0);
  rank("aaaaaaaa", 0, record(1, "fine"));
  const Outcome shown = logs_of({.name = "bert", .filter = {.ranks = {7}}});
  EXPECT_EQ(shown.code, 1);
  EXPECT_THAT(shown.err, HasSubstr("it has Rank 0"));
}

TEST_F(LogsVerb, OfOneContainer) {
  begin_run("aaaaaaaa", 0);
  rank("aaaaaaaa", 0, record(1, "work"));
  append_log(home(), "default_bert-rank-0_aaaaaaaa-0", "side/0.log", record(2, "beside"));
  EXPECT_EQ(logs_of({.name = "bert", .container = "side", .prefix = false}).out, "beside\n");
  const Outcome none = logs_of({.name = "bert", .container = "other"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("no pod of bert has a container other"));
}

TEST_F(LogsVerb, WhatCannotBeReadIsSaidAndAnErrorIfThatIsAll) {
  begin_run("aaaaaaaa", 0);
  rank("aaaaaaaa", 0, "");
  const std::string path = home() + "/logs/default_bert-rank-0_aaaaaaaa-0/main/0.log";
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  const Outcome nothing = logs_of({.name = "bert"});
  EXPECT_EQ(nothing.code, 1);
  EXPECT_THAT(nothing.err, StartsWith("error: the logs of Rank 0 cannot be read: "));
  rank("aaaaaaaa", 1, record(1, "fine"));
  const Outcome some = logs_of({.name = "bert", .prefix = false});
  EXPECT_EQ(some.code, 0);
  EXPECT_EQ(some.out, "fine\n");
  EXPECT_THAT(some.err, HasSubstr("the logs of Rank 0 cannot be read"));
}

TEST_F(LogsVerb, SinceTailAndTimes) {
  begin_run("aaaaaaaa", 0);
  rank("aaaaaaaa", 0, record(1, "a") + record(3, "c"));
  rank("aaaaaaaa", 1, record(2, "b") + record(4, "d"));
  const LogsOptions plain{.name = "bert", .prefix = false};
  LogsOptions options = plain;
  options.tail = 3;
  EXPECT_EQ(logs_of(options).out, "b\nc\nd\n");
  options.since_time = *parse_time("2026-11-15T03:04:03Z");
  EXPECT_EQ(logs_of(options).out, "c\nd\n");
  options = plain;
  options.since = std::chrono::milliseconds(1);
  EXPECT_EQ(logs_of(options).out, "");
  options.since = std::chrono::hours(800'000);
  EXPECT_EQ(logs_of(options).out, "a\nb\nc\nd\n");
  options = plain;
  options.timestamps = true;
  EXPECT_THAT(logs_of(options).out, StartsWith("2026-11-15T03:04:01.000000000Z a\n"));
}

TEST_F(LogsVerb, TheLastLineIsShownWithoutItsEndToo) {
  begin_run("aaaaaaaa", 0);
  rank("aaaaaaaa", 0, record(1, "whole") + record(2, "loss 0.5", 'P'));
  rank("aaaaaaaa", 1, record(3, "Killed", 'P', "stderr"));
  EXPECT_EQ(logs_of({.name = "bert", .prefix = false}).out, "whole\nloss 0.5\nKilled\n");
  EXPECT_EQ(logs_of({.name = "bert", .tail = 1, .prefix = false}).out, "Killed\n");
}

TEST_F(LogsVerb, WhatIsNotThereIsSaidWithTheCommandThatShowsWhatIs) {
  const Outcome shown = logs_of({.name = "nobody"});
  EXPECT_EQ(shown.code, 1);
  EXPECT_THAT(shown.err, HasSubstr("nobody"));
}

TEST_F(LogsVerb, HistoryIsATableOrJson) {
  begin_run("aaaaaaaa-1", 0);
  ASSERT_TRUE(append_line(home(), "aaaaaaaa-1",
                          end_line({.result = "Failed",
                                    .exit_code = 3,
                                    .cause = "Rank 1: exit 3",
                                    .started = Time{std::chrono::seconds(1'790'000'001)},
                                    .ended = Time{std::chrono::seconds(1'790'003'603)},
                                    .ranks = 4})));
  begin_run("bbbbbbbb-2", 60, "gpt");
  const auto shown = outcome([](Context& context) { return history(context, {}); });
  EXPECT_EQ(shown.out,
            "NAME   RUN        KIND   RESULT   CODE   STARTED                DURATION   RANKS\n"
            "gpt    bbbbbbbb   Toy    -        -      2026-09-21T14:14:20Z   -          -\n"
            "bert   aaaaaaaa   Toy    Failed   3      2026-09-21T14:13:21Z   1:00:02    4\n");
  const auto json = outcome(
      [](Context& context) { return history(context, {.name = "bert", .output = "json"}); });
  EXPECT_THAT(json.out, HasSubstr("\"cause\": \"Rank 1: exit 3\""));
  EXPECT_THAT(json.out, HasSubstr("\"durationSeconds\": 3602"));
  const auto of = [&](const std::string& name) {
    return outcome([&](Context& context) { return history(context, {.name = name}); });
  };
  EXPECT_EQ(of("x").code, 1);
  EXPECT_THAT(of("toys.toy.dev/bert").out, HasSubstr("aaaaaaaa"));
  EXPECT_THAT(of("bert@aa").out, HasSubstr("aaaaaaaa"));
  EXPECT_EQ(of("bert@bb").code, 1);
  EXPECT_EQ(of("pods/bert").code, 1);
  EXPECT_EQ(of("nokind/bert").code, 1);
  ASSERT_TRUE(
      append_line(home(), "cccccccc",
                  begin_line({.ns = "ml", .name = "far", .kind = "Toy", .uid = "cccccccc"})));
  EXPECT_THAT(outcome([](Context& context) { return history(context, {}); }).out,
              ::testing::Not(HasSubstr("far")));
  const auto everywhere = outcome([](Context& context) {
    context.all_namespaces = true;
    return history(context, {});
  });
  EXPECT_THAT(everywhere.out, HasSubstr("\nml          far    cccccccc"));
  const auto remote = outcome([](Context& context) {
    context.kubeconfig = "somewhere";
    return history(context, {});
  });
  EXPECT_EQ(remote.code, 2);
  EXPECT_THAT(remote.err, HasSubstr("a cluster has no history"));
}

}  // namespace
}  // namespace muster::cli
