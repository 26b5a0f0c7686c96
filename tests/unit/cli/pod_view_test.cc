#include <gtest/gtest.h>

#include "bare_context.h"
#include "cli/jobs/followed.h"
#include "cli/run/failure.h"
#include "json/read.h"

namespace muster::cli {
namespace {

JobView view(std::string_view status) {
  auto pod = *json::read(R"({"metadata":{"name":"p","namespace":"ns","uid":"u"}})");
  pod["status"] = *json::read(status);
  return pod_view(pod);
}

TEST(PodView, IsPendingRunningOrSucceeded) {
  EXPECT_EQ(view(R"({"phase":"Pending"})").state(), "Pending");
  const auto running = view(R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}],
      "containerStatuses":[{"name":"c","restartCount":2}]})");
  EXPECT_EQ(running.state(), "Running");
  EXPECT_EQ(running.ranks_ready, 1);
  EXPECT_EQ(running.restarts, 2);
  EXPECT_FALSE(running.finished());
  EXPECT_EQ(exit_code_for(view(R"({"phase":"Succeeded"})")), 0);
}

TEST(PodView, TheContainerThatFailedFirstGivesTheCode) {
  const auto failed = view(R"({"phase":"Failed","containerStatuses":[
      {"name":"a","state":{"terminated":{"exitCode":143,"finishedAt":"2026-01-01T00:00:09Z"}}},
      {"name":"b","state":{"terminated":{"exitCode":7,"finishedAt":"2026-01-01T00:00:05Z"}}},
      {"name":"c","state":{"terminated":{"exitCode":0,"finishedAt":"2026-01-01T00:00:01Z"}}}]})");
  EXPECT_EQ(exit_code_for(failed), 7);
  EXPECT_EQ(root_cause(BareContext().context, failed, "p"),
            "  root cause  pod p · exit 7\n"
            "  logs        muster logs pods/p\n");
}

TEST(PodView, AnInitContainerCountsToo) {
  EXPECT_EQ(exit_code_for(view(R"({"phase":"Failed","initContainerStatuses":[
      {"name":"i","state":{"terminated":{"exitCode":3,"finishedAt":"2026-01-01T00:00:01Z"}}}],
      "containerStatuses":[{"name":"c","state":{"waiting":{"reason":"PodInitializing"}}}]})")),
            3);
}

TEST(PodView, ADeadlineIsATimeout) {
  EXPECT_EQ(
      exit_code_for(view(R"({"phase":"Failed","reason":"DeadlineExceeded","containerStatuses":[
      {"name":"c","state":{"terminated":{"exitCode":137,"finishedAt":"2026-01-01T00:00:01Z"}}}]})")),
      124);
}

TEST(PodView, AFailureWithoutACodeIsAFailure) {
  EXPECT_EQ(exit_code_for(view(R"({"phase":"Failed","reason":"Evicted"})")), 1);
}

JobView run_of(const std::string& policy, const std::string& containers) {
  json::Value pod = *json::read(R"({"metadata":{"name":"p","namespace":"ns","uid":"u"}})");
  pod["spec"]["restartPolicy"] = policy;
  pod["status"] = *json::read(R"({"phase":"Running","containerStatuses":[)" + containers + "]}");
  return pod_run_view(pod);
}

const char* const kOnce = R"({"name":"c","restartCount":1,
    "state":{"waiting":{"reason":"CrashLoopBackOff"}},
    "lastState":{"terminated":{"exitCode":3,"finishedAt":"2026-01-01T00:00:01Z"}}})";
const char* const kDone = R"({"name":"c","restartCount":1,"state":{"running":{}},
    "lastState":{"terminated":{"exitCode":0,"finishedAt":"2026-01-01T00:00:01Z"}}})";
const char* const kNever = R"({"name":"d","restartCount":0,"state":{"running":{}}})";

TEST(PodView, ARunOfAPodThatIsAlwaysStartedAgainEndsWithItsFirstEnd) {
  EXPECT_TRUE(run_of("Always", kOnce).finished());
  EXPECT_EQ(exit_code_for(run_of("Always", kOnce)), 3);
  EXPECT_EQ(exit_code_for(run_of("Always", kDone)), 0);
  EXPECT_EQ(run_of("Always", kDone).state(), "Succeeded");
  EXPECT_FALSE(run_of("Always", std::string(kOnce) + "," + kNever).finished()) << "one still runs";
}

TEST(PodView, ARunOfAPodThatIsStartedAgainAfterFailuresGoesOn) {
  EXPECT_FALSE(run_of("OnFailure", kOnce).finished());
}

}  // namespace
}  // namespace muster::cli
