#include "cli/run/run_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/run/last_lines.h"
#include "cli/run/ranks.h"
#include "json/read.h"
#include "json/write.h"

namespace muster::cli {
namespace {

using Ended = RunResult::Ended;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RunResult result(const std::string& name, Ended ended, int code) {
  RunResult made{.resource = {.group = "toy.dev", .version = "v1", .plural = "toys", .kind = "Toy"},
                 .key = {.ns = "default", .name = name},
                 .uid = "u-" + name,
                 .ended = ended,
                 .exit_code = code};
  made.view.ranks = 4;
  made.view.restarts = 2;
  made.created = *parse_time("2026-01-01T00:00:00Z");
  made.finished = *parse_time("2026-01-01T00:00:03Z");
  made.took = std::chrono::milliseconds(2500);
  return made;
}

RunResult failure() {
  RunResult made = result("bert", Ended::Failed, 3);
  made.message = "Worker 1: exit 3";
  made.notes.last_lines = {"a < b", "boom\x01"};
  made.notes.stopped = "Worker 0";
  made.view.ledger.start_time = *parse_time("2026-01-01T00:00:01Z");
  made.view.ledger.final_counts["Worker"] = {.succeeded = 2, .failed = 1};
  made.view.ledger.cause = plan::Cause{
      .role = "Worker", .index = 1, .pod = "bert-worker-1", .exit_code = 3, .reason = "Error"};
  return made;
}

// Documented as stable: what is here is what scripts read.
TEST(Report, OfAFailureInFull) {
  const auto wanted = json::read(R"({
    "apiVersion": "muster.dev/v1", "kind": "RunResult", "state": "Failed", "exitCode": 3,
    "jobs": [{
      "apiVersion": "toy.dev/v1", "kind": "Toy", "namespace": "default", "name": "bert",
      "uid": "u-bert", "state": "Failed", "exitCode": 3, "source": "job",
      "ranks": {"total": 4, "succeeded": 2, "failed": 1}, "restarts": 2, "seconds": 2.5,
      "created": "2026-01-01T00:00:00Z", "started": "2026-01-01T00:00:01Z",
      "finished": "2026-01-01T00:00:03Z", "message": "Worker 1: exit 3",
      "cause": {"kind": "PodFailed", "role": "Worker", "index": 1, "pod": "bert-worker-1",
                "exitCode": 3, "reason": "Error", "lastLines": ["a < b", "boom?"],
                "stopped": "Worker 0"}}]})");
  EXPECT_EQ(json::write_pretty(report_of({failure()}, 3, "")), json::write_pretty(*wanted));
}

TEST(Report, TheStateIsThatOfTheWorst) {
  const RunResult good = result("a", Ended::Succeeded, 0);
  const auto state = [](const std::vector<RunResult>& results, const std::string& error = "") {
    return report_of(results, 0, error)["state"].as_string();
  };
  EXPECT_EQ(state({}), "Succeeded");
  EXPECT_EQ(state({good, good}), "Succeeded");
  EXPECT_EQ(state({good, failure()}), "Failed");
  EXPECT_EQ(state({failure(), result("c", Ended::Stopped, 130)}), "Stopped");
  EXPECT_EQ(state({good, result("c", Ended::Refused, 125)}), "Refused");
  EXPECT_EQ(state({result("c", Ended::Detached, 0), good}), "Detached");
  EXPECT_EQ(state({}, "bad manifest"), "Error");
}

TEST(Report, ACodeThatIsOursIsNotTheJobs) {
  EXPECT_EQ(report_of({result("c", Ended::Refused, 125)}, 125, "")["jobs"]
                .as_array()[0]["source"]
                .as_string(),
            "muster");
  RunResult late = failure();
  late.exit_code = 124;
  EXPECT_EQ(report_of({late}, 124, "")["jobs"].as_array()[0]["source"].as_string(), "muster");
}

TEST(Junit, ATestForEachJob) {
  EXPECT_EQ(junit_of({result("a", Ended::Succeeded, 0), failure()}, ""),
            R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="2" failures="1" errors="0" skipped="0" time="2.500">
  <testsuite name="muster run" tests="2" failures="1" errors="0" skipped="0" time="2.500">
    <testcase classname="Toy" name="default/a" time="2.500"/>
    <testcase classname="Toy" name="default/bert" time="2.500">
      <failure type="PodFailed" message="Worker 1: exit 3">a &lt; b
boom?
</failure>
    </testcase>
  </testsuite>
</testsuites>
)");
}

TEST(Junit, WhatCouldNotBeRunIsAnError) {
  EXPECT_THAT(junit_of({}, "job.yaml: \"x\""),
              HasSubstr(R"(<error type="Error" message="job.yaml: &quot;x&quot;"></error>)"));
}

struct Discarded final : LogSink {
  void bytes(const LogOrigin&, std::string_view, std::string_view text) override { all += text; }
  void ended(const LogOrigin&) override {}
  std::string all;
};

TEST(LastLines, AreThoseOfTheirPodWholeAndWithoutEmptyOnes) {
  Discarded next;
  LastLines lines(next);
  const LogOrigin one{.pod = "one", .container = "c"};
  const LogOrigin two{.pod = "two", .container = "c"};
  lines.bytes(one, "", "first\nsec");
  lines.bytes(two, "", "other\n");
  lines.bytes(one, "", "ond\r\n\n10%\r50%\r99%\nlast");
  EXPECT_THAT(lines.of("one", 3), ElementsAre("second", "99%", "last"));
  EXPECT_THAT(lines.of("two", 3), ElementsAre("other"));
  EXPECT_THAT(lines.of("three", 3), IsEmpty());
  EXPECT_EQ(next.all, "first\nsecother\nond\r\n\n10%\r50%\r99%\nlast") << "and all of it goes on";
}

TEST(LastLines, RememberOnlyTheEndOfMuch) {
  Discarded next;
  LastLines lines(next);
  const LogOrigin one{.pod = "one", .container = "c"};
  for (int i = 0; i < 100'000; ++i) lines.bytes(one, "", "line " + std::to_string(i) + "\n");
  lines.bytes(one, "", std::string(1 << 20, 'x') + "\nend\n");
  EXPECT_EQ(lines.of("one", 1), std::vector<std::string>{"end"});
  EXPECT_LT(lines.of("one", 10)[0].size(), 16U << 10U);
}

PodsByName::value_type pod(const std::string& role, int index, const std::string& phase,
                           bool deleted) {
  json::Value made;
  const std::string name = role + "-" + std::to_string(index);
  made["metadata"]["name"] = name;
  made["metadata"]["labels"]["muster.dev/role"] = role;
  made["metadata"]["labels"]["muster.dev/index"] = std::to_string(index);
  if (deleted) made["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  made["status"]["phase"] = phase;
  return {name, std::make_shared<const json::Value>(std::move(made))};
}

TEST(StoppedRanks, AreThoseThatWereToldToGo) {
  const PodsByName pods = {pod("PS", 0, "Running", true),       pod("Worker", 0, "Running", true),
                           pod("Worker", 1, "Failed", true),    pod("Worker", 2, "Failed", true),
                           pod("Worker", 3, "Succeeded", true), pod("Worker", 4, "Running", false)};
  EXPECT_EQ(stopped_ranks(pods, "Worker-2"), "PS 0, Worker 0-1");
  EXPECT_EQ(stopped_ranks({}, ""), "");
}

}  // namespace
}  // namespace muster::cli
