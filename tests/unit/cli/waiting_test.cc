#include "cli/jobs/waiting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/read.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

cluster::ObjectPtr pod(const std::string& name, const std::string& status) {
  json::Value made = *json::read(R"({"metadata":{"namespace":"ns"}})");
  made["metadata"]["name"] = name;
  made["status"] = *json::read(status);
  return std::make_shared<const json::Value>(std::move(made));
}

std::string unplaced(const std::string& reason, const std::string& message,
                     const std::string& since = "2026-01-01T00:00:00Z",
                     const std::string& more = "") {
  return R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":")" +
         reason + R"(","message":")" + message + R"(","lastTransitionTime":")" + since + R"("})" +
         more + "]}";
}

std::string held(const std::string& reason, const std::string& message) {
  return R"({"phase":"Pending","conditions":[{"type":"PodScheduled","status":"True",
      "lastTransitionTime":"2026-01-01T00:00:07Z"}],"containerStatuses":[{"name":"c",
      "state":{"waiting":{"reason":")" +
         reason + R"(","message":")" + message + R"("}}}]})";
}

TEST(Waiting, WhatRunsOrIsJustBeingMadeWaitsForNothing) {
  EXPECT_FALSE(why_waiting({}));
  EXPECT_FALSE(why_waiting({pod("a", R"({"phase":"Pending"})")}));
  EXPECT_FALSE(why_waiting({pod("a", held("ContainerCreating", ""))}));
  EXPECT_FALSE(why_waiting({pod("a", held("PodInitializing", ""))}));
  EXPECT_FALSE(why_waiting({pod("a", R"({"phase":"Running","containerStatuses":[{"name":"c",
      "state":{"running":{"startedAt":"2026-01-01T00:00:00Z"}}}]})")}));
}

TEST(Waiting, TheSchedulersOwnSentenceSinceWhenAndWhatWouldUnblockIt) {
  const auto waiting =
      why_waiting({pod("a", unplaced("Unschedulable", "no room", "2026-01-01T00:00:05Z")),
                   pod("b", unplaced("Unschedulable", "no room", "2026-01-01T00:00:03Z"))});
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->reason, "Unschedulable");
  EXPECT_EQ(waiting->message, "no room");
  EXPECT_THAT(waiting->remedy, HasSubstr("ask for less"));
  EXPECT_EQ(waiting->pods, 2);
  EXPECT_EQ(format_time(*waiting->since), "2026-01-01T00:00:03Z")
      << "of the one that waits longest";
  EXPECT_FALSE(waiting->for_ever);
}

// The words of a message decide nothing: only the condition does.
TEST(Waiting, ForEverIsSaidByACondition) {
  const std::string never =
      R"(,{"type":"muster.dev/CannotStart","status":"True","reason":"NeverFits","message":"too much"})";
  const auto waiting = why_waiting({pod("a", held("CreateContainerConfigError", "images.yaml")),
                                    pod("b", unplaced("Unschedulable", "no room", "", never))});
  ASSERT_TRUE(waiting);
  EXPECT_TRUE(waiting->for_ever);
  EXPECT_EQ(waiting->reason, "NeverFits");
  EXPECT_EQ(waiting->message, "too much");
  EXPECT_EQ(waiting->pods, 1);
  EXPECT_FALSE(why_waiting({pod("a", held("CreateContainerConfigError",
                                          "can never fit, map it in images.yaml"))})
                   ->for_ever);
}

TEST(Waiting, AConditionThatNoLongerHoldsSaysNothing) {
  const std::string was =
      R"(,{"type":"muster.dev/CannotStart","status":"False","reason":"","message":""})";
  EXPECT_FALSE(why_waiting({pod("a", unplaced("Unschedulable", "no room", "", was))})->for_ever);
}

TEST(Waiting, WhatSomebodyMustDoComesBeforeWhatTimeDoes) {
  const auto waiting = why_waiting({pod("a", unplaced("GangIncomplete", "1 of 4")),
                                    pod("b", unplaced("VolumeUnbound", "no claim")),
                                    pod("c", unplaced("Queued", "others"))});
  EXPECT_EQ(waiting->reason, "VolumeUnbound");
  EXPECT_EQ(why_waiting({pod("a", unplaced("GangIncomplete", "1 of 4"))})->remedy, "");
}

TEST(Waiting, ACrashLoopNamesTheCodeAndHowOften) {
  const auto waiting = why_waiting({pod("a", R"({"phase":"Running","containerStatuses":[
      {"name":"main","restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff"}},
       "lastState":{"terminated":{"exitCode":7,"finishedAt":"2026-01-01T00:00:09Z"}}}]})")});
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->reason, "CrashLoopBackOff");
  EXPECT_EQ(waiting->message, "container main ended with exit 7 and is started again (3 so far)");
  EXPECT_EQ(format_time(*waiting->since), "2026-01-01T00:00:09Z");
}

TEST(Waiting, WhatIsOnItsWayOutWaitsForNothing) {
  json::Value leaving = *pod("a", held("ImagePullBackOff", "no such image"));
  EXPECT_TRUE(why_waiting({std::make_shared<const json::Value>(leaving)}));
  leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  EXPECT_FALSE(why_waiting({std::make_shared<const json::Value>(std::move(leaving))}));
}

TEST(Waiting, ANodeThatDoesNotAnswerComesFirst) {
  const json::Value job = *json::read(R"({"metadata":{"name":"bert","namespace":"ml","uid":"u"},
      "status":{"muster":{"blockedOnNode":[{"node":"gpu-7","since":"2026-01-01T00:00:00Z",
      "ranks":{"Worker":"1-3"}}]}}})");
  const auto waiting = why_waiting(job, {pod("a", unplaced("Unschedulable", "no room"))});
  ASSERT_TRUE(waiting);
  EXPECT_EQ(waiting->reason, "BlockedOnNode");
  EXPECT_EQ(waiting->node, "gpu-7");
  EXPECT_EQ(waiting->pods, 3);
  EXPECT_FALSE(waiting->for_ever);
  EXPECT_THAT(waiting->message, HasSubstr("gpu-7 has not answered since 2026-01-01T00:00:00Z"));
  EXPECT_THAT(waiting->message, HasSubstr("Worker 1-3"));
  EXPECT_THAT(waiting->remedy, HasSubstr("only if that machine is known to be off"));
  EXPECT_THAT(waiting->remedy, HasSubstr("kubectl delete pods -n ml -l"));
  const auto else_waiting =
      why_waiting(json::Value(), {pod("a", unplaced("Unschedulable", "no room"))});
  ASSERT_TRUE(else_waiting);
  EXPECT_EQ(else_waiting->reason, "Unschedulable");
}

}  // namespace
}  // namespace muster::cli
