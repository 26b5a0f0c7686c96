#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"

// A job says itself why its ranks do not start.
namespace muster::engine {
namespace {

using namespace testing;
using namespace std::chrono_literals;
using api::PodPhase;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

PodView held_up(int index, const std::string& reason, const std::string& message,
                std::int64_t restarts = 0) {
  PodView view = pod("Worker", index, PodPhase::Pending);
  view.containers = {
      {.name = "mindspore", .restarts = restarts, .reason = reason, .message = message}};
  return view;
}

PodView unplaced(int index, Time since) {
  PodView view = pod("Worker", index, PodPhase::Pending);
  view.unplaced = {.message = "0/3 nodes are available: 3 Insufficient cpu.", .since = since};
  return view;
}

Decision look(std::vector<PodView> pods, Time now = kStart) {
  Observed observed = begun();
  const plan::Plan plan =
      JobBuilder().workers(static_cast<int>(pods.size())).all_workers_decide().build();
  observed.pods = std::move(pods);
  return decide(plan, observed, now);
}

TEST(Delay, TheFirstRankThatCannotStartIsNamedWithTheNodesOwnWords) {
  const Decision decision =
      look({pod("Worker", 0, PodPhase::Running),
            held_up(1, "ErrImageNeverPull", "Container image \"x:1\" is not present"),
            held_up(2, "ErrImageNeverPull", "Container image \"x:1\" is not present")});
  EXPECT_EQ(decision.verdict.waiting_for,
            "Worker 1 to start: ErrImageNeverPull: Container image \"x:1\" is not present "
            "(1 more wait too)");
}

TEST(Delay, ARankThatIsStartedAgainAndAgainIsToldApart) {
  EXPECT_THAT(look({held_up(0, "CrashLoopBackOff", "back-off 10s", 3)}).verdict.waiting_for,
              HasSubstr("Worker 0 to start again: CrashLoopBackOff: back-off 10s"));
}

TEST(Delay, APodThatIsJustBeingMadeKeepsNobodyWaiting) {
  EXPECT_THAT(look({held_up(0, "ContainerCreating", "")}).verdict.waiting_for, IsEmpty());
  EXPECT_THAT(look({pod("Worker", 0, PodPhase::Running)}).verdict.waiting_for, IsEmpty());
}

TEST(Delay, WhoHasNoNodeIsNamedAfterFiveSeconds) {
  const Decision early = look({unplaced(0, kStart)}, kStart + 4s);
  EXPECT_THAT(early.verdict.waiting_for, IsEmpty());
  EXPECT_EQ(early.wake_at, kStart + 5s) << "somebody has to look then";
  EXPECT_EQ(look({unplaced(0, kStart)}, kStart + 5s).verdict.waiting_for,
            "Worker 0 to be placed on a node: 0/3 nodes are available: 3 Insufficient cpu.");
}

TEST(Delay, ALongMessageIsCut) {
  EXPECT_LT(look({held_up(0, "ErrImagePull", std::string(5000, 'x'))}).verdict.waiting_for.size(),
            400U);
}

TEST(Delay, APodIsUnplacedOnlyWhenNoNodeHasRoom) {
  const auto read = [](const std::string& reason) {
    return PodView::from(json::Object{
        {"status",
         json::Object{{"conditions",
                       json::Array{json::Object{{"type", "PodScheduled"},
                                                {"status", "False"},
                                                {"reason", reason},
                                                {"message", "no room"},
                                                {"lastTransitionTime", format_time(kStart)}}}}}}});
  };
  ASSERT_TRUE(read("Unschedulable").unplaced);
  EXPECT_EQ(read("Unschedulable").unplaced->message, "no room");
  EXPECT_EQ(read("Unschedulable").unplaced->since, kStart);
  EXPECT_FALSE(read("Queued").unplaced) << "its turn comes";
}

}  // namespace
}  // namespace muster::engine
