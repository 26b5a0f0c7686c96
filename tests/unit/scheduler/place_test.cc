#include "scheduler/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::scheduler {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

api::Quantity quantity(std::int64_t value) {
  return api::Quantity::of(value);
}

NodeView node(const std::string& name, std::int64_t cpu, std::int64_t gpu = 0) {
  return {.name = name,
          .usable = true,
          .labels = {{"kubernetes.io/hostname", name}},
          .allocatable = {
              {"cpu", quantity(cpu)}, {"nvidia.com/gpu", quantity(gpu)}, {"pods", quantity(110)}}};
}

// A pod in the making: pod("a").needs(2).gang("g", 3).
struct Pod {
  PodView view;
  Pod& needs(std::int64_t cpu, std::int64_t gpu = 0) {
    view.requests["cpu"] = quantity(cpu);
    if (gpu > 0) view.requests["nvidia.com/gpu"] = quantity(gpu);
    return *this;
  }
  Pod& gang(const std::string& name, int size) {
    view.gang = name;
    view.gang_size = size;
    return *this;
  }
  Pod& on(const std::string& name) {
    view.node = name;
    return *this;
  }
  Pod& over() {
    view.over = true;
    return *this;
  }
  Pod& priority(std::int64_t value) {
    view.priority = value;
    return *this;
  }
  Pod& queue(const std::string& name) {
    view.queue = name;
    return *this;
  }
  Pod& born(int second) {
    view.created = Time{} + std::chrono::seconds(second);
    return *this;
  }
  Pod& only_on(const std::string& name) {
    view.node_selector["kubernetes.io/hostname"] = name;
    return *this;
  }
};

Pod pod(const std::string& name) {
  return {.view = {.key = {.ns = "ns", .name = name},
                   .uid = "uid-" + name,
                   .requests = {{"pods", quantity(1)}}}};
}

// "a→n" for each binding, in order.
std::vector<std::string> bindings(const Placement& placement) {
  std::vector<std::string> text;
  for (const Binding& binding : placement.bindings)
    text.push_back(binding.key.name + "→" + binding.node);
  return text;
}

Placement place_all(const std::vector<NodeView>& nodes, std::initializer_list<Pod> pods) {
  std::vector<PodView> views;
  for (const Pod& each : pods) views.push_back(each.view);
  return place(nodes, views);
}

TEST(Place, APodGoesWhereItFits) {
  EXPECT_THAT(bindings(place_all({node("small", 1), node("large", 8)}, {pod("a").needs(2)})),
              ElementsAre("a→large"));
}

TEST(Place, WhatIsPlacedIsNotFreeForTheNext) {
  const auto placed =
      place_all({node("n", 4)}, {pod("a").needs(3).born(1), pod("b").needs(3).born(2)});
  EXPECT_THAT(bindings(placed), ElementsAre("a→n"));
  ASSERT_THAT(placed.refused, SizeIs(1));
  EXPECT_EQ(placed.refused[0].message, "0/1 nodes are available: 1 Insufficient cpu.");
  EXPECT_EQ(placed.refused[0].why, Refused::Why::Room);
}

TEST(Place, AFinishedPodNeedsNothing) {
  EXPECT_THAT(
      bindings(place_all({node("n", 4)}, {pod("old").needs(4).on("n").over(), pod("a").needs(4)})),
      ElementsAre("a→n"));
}

TEST(Place, ARunningPodKeepsItsPlace) {
  EXPECT_THAT(bindings(place_all({node("n", 4)}, {pod("old").needs(4).on("n"), pod("a").needs(1)})),
              IsEmpty());
}

TEST(Place, AGangIsPlacedWhole) {
  const auto placed = place_all({node("a", 2), node("b", 1)},
                                {pod("0").needs(1).gang("g", 3), pod("1").needs(1).gang("g", 3),
                                 pod("2").needs(1).gang("g", 3)});
  EXPECT_THAT(bindings(placed), ElementsAre("0→a", "1→a", "2→b"));
}

TEST(Place, AGangThatDoesNotFitWholeTakesNothing) {
  const auto placed =
      place_all({node("n", 2)},
                {pod("0").needs(1).gang("g", 3).born(1), pod("1").needs(1).gang("g", 3).born(1),
                 pod("2").needs(1).gang("g", 3).born(1), pod("late").needs(2).born(2)});
  EXPECT_THAT(bindings(placed), ElementsAre("late→n")) << "and keeps nothing from those behind it";
  ASSERT_THAT(placed.refused, SizeIs(3));
  EXPECT_THAT(placed.refused[0].message,
              AllOf(HasSubstr("Insufficient cpu"), HasSubstr("All 3 pods must fit together"),
                    HasSubstr("can never fit")));
  EXPECT_EQ(placed.refused[0].why, Refused::Why::Never);
  EXPECT_THAT(placed.refused[0].message,
              HasSubstr("They can never fit on this machine: 3 cpu asked for, 2 there."));
}

TEST(Place, AGangThatFitsAnEmptyMachineMayWait) {
  const auto placed =
      place_all({node("n", 2)}, {pod("old").needs(1).on("n"), pod("0").needs(1).gang("g", 2),
                                 pod("1").needs(1).gang("g", 2)});
  EXPECT_THAT(bindings(placed), IsEmpty());
  ASSERT_THAT(placed.refused, SizeIs(2));
  EXPECT_EQ(placed.refused[0].why, Refused::Why::Room);
  EXPECT_THAT(placed.refused[0].message, Not(HasSubstr("never")));
}

TEST(Place, AGangWaitsUntilItsPodsExist) {
  const auto placed = place_all({node("n", 8)}, {pod("0").needs(1).gang("g", 3)});
  EXPECT_THAT(bindings(placed), IsEmpty());
  EXPECT_EQ(placed.refused[0].message, "waiting for the gang: 1 of 3 pods exist");
}

TEST(Place, ARestartedRankJoinsTheOthers) {
  EXPECT_THAT(bindings(place_all({node("n", 8)}, {pod("0").needs(1).gang("g", 3).on("n"),
                                                  pod("1").needs(1).gang("g", 3).on("n"),
                                                  pod("2").needs(1).gang("g", 3)})),
              ElementsAre("2→n"));
}

TEST(Place, AboveItsSizeAGangTakesWhatItCanGet) {
  const auto placed =
      place_all({node("n", 3)}, {pod("0").needs(1).gang("g", 2), pod("1").needs(1).gang("g", 2),
                                 pod("2").needs(1).gang("g", 2), pod("3").needs(1).gang("g", 2)});
  EXPECT_THAT(bindings(placed), ElementsAre("0→n", "1→n", "2→n"));
  EXPECT_THAT(placed.refused, SizeIs(1));
}

TEST(Place, PriorityComesBeforeAge) {
  EXPECT_THAT(bindings(place_all({node("n", 2)}, {pod("old").needs(2).born(1),
                                                  pod("dear").needs(2).born(9).priority(5)})),
              ElementsAre("dear→n"));
}

TEST(Place, InAQueueWhoWaitsForRoomKeepsThoseBehindItWaiting) {
  const auto large = pod("large").needs(3).queue("q").priority(9);
  const auto placement = place_all(
      {node("n", 4)}, {pod("runs").needs(2).on("n"), large, pod("small").needs(1).queue("q"),
                       pod("other").needs(1).queue("r"), pod("alone").needs(1).born(1)});
  EXPECT_THAT(bindings(placement), ElementsAre("other→n", "alone→n"));
  ASSERT_THAT(placement.refused, SizeIs(2));
  EXPECT_THAT(placement.refused[1].message, HasSubstr("waiting in queue q: others come first"));
}

TEST(Place, InAQueueWhoCanNeverFitIsPassed) {
  const auto placement = place_all({node("n", 4)}, {pod("huge").needs(9).queue("q").priority(9),
                                                    pod("small").needs(1).queue("q")});
  EXPECT_THAT(bindings(placement), ElementsAre("small→n"));
}

TEST(Place, APodsQueueAndItsPlaceInItAreLabels) {
  json::Value body = json::Object{{"kind", "Pod"}};
  body["spec"]["priority"] = 5;
  EXPECT_EQ(PodView::from(body).priority, 5);
  body["metadata"]["labels"]["muster.dev/queue"] = "q";
  EXPECT_EQ(PodView::from(body).queue, "q");
  EXPECT_EQ(PodView::from(body).priority, 0);
  body["metadata"]["labels"]["muster.dev/priority"] = "50";
  EXPECT_EQ(PodView::from(body).priority, 50);
}

TEST(Place, AgeComesBeforeName) {
  EXPECT_THAT(
      bindings(place_all({node("n", 2)}, {pod("a").needs(2).born(9), pod("z").needs(2).born(1)})),
      ElementsAre("z→n"));
}

TEST(Place, GpusAreCounted) {
  const auto placed = place_all({node("n", 64, 2)},
                                {pod("0").needs(1, 1), pod("1").needs(1, 1), pod("2").needs(1, 1)});
  EXPECT_THAT(bindings(placed), SizeIs(2));
  EXPECT_THAT(placed.refused[0].message, HasSubstr("Insufficient nvidia.com/gpu"));
}

TEST(Place, AsManyPodsAsTheNodeTakes) {
  NodeView full = node("n", 64);
  full.allocatable["pods"] = quantity(1);
  const auto placed = place_all({full}, {pod("0"), pod("1")});
  EXPECT_THAT(bindings(placed), SizeIs(1));
  EXPECT_THAT(placed.refused[0].message, HasSubstr("1 Too many pods"));
}

TEST(Place, SelectorsHold) {
  const auto placed = place_all({node("a", 8), node("b", 8)},
                                {pod("x").needs(1).only_on("b"), pod("y").needs(1).only_on("c")});
  EXPECT_THAT(bindings(placed), ElementsAre("x→b"));
  EXPECT_THAT(placed.refused[0].message,
              HasSubstr("2 node(s) didn't match Pod's node affinity/selector"));
}

TEST(Place, UnusableNodesAreNotUsed) {
  NodeView down = node("n", 8);
  down.usable = false;
  const auto placed = place_all({down}, {pod("a").needs(1)});
  EXPECT_THAT(bindings(placed), IsEmpty());
  EXPECT_THAT(placed.refused[0].message, HasSubstr("not ready or unschedulable"));
  EXPECT_EQ(placed.refused[0].why, Refused::Why::Room) << "it may be ready soon";
}

TEST(Place, WithoutNodesNothingIsPlaced) {
  const auto placed = place_all({}, {pod("a").needs(1)});
  ASSERT_THAT(placed.refused, SizeIs(1));
  EXPECT_THAT(placed.refused[0].message, HasSubstr("0/0 nodes are available"));
}

}  // namespace
}  // namespace muster::scheduler
