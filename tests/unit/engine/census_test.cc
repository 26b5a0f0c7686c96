#include "engine/census.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/decide.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using plan::Phase;
using plan::RoleCount;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

PodView worker(PodPhase phase, std::optional<int> exit_code = {}) {
  return pod("Worker", 0, phase, exit_code);
}

PodView going(PodView view) {
  view.deleting = true;
  return view;
}

PodView taken_away(PodView view) {
  view.disruption_target = true;
  return view;
}

PodView of_epoch(PodView view, std::int64_t epoch) {
  view.epoch = epoch;
  return view;
}

PodView restarted(PodView view, std::int64_t times) {
  view.containers[0].restarts = times;
  return view;
}

// Its containers have not been heard of.
PodView without_containers(PodView view) {
  view.containers.clear();
  return view;
}

PodView with_sidecar(PodView view, int exit_code) {
  view.containers.insert(view.containers.begin(), {.name = "sidecar", .exit_code = exit_code});
  return view;
}

plan::Ledger replaced(int times) {
  plan::Ledger ledger;
  ledger.roles["Worker"].attempts.set(0, times);
  return ledger;
}

std::vector<std::string> names(const std::vector<const PodView*>& pods) {
  std::vector<std::string> all;
  for (const PodView* pod : pods) all.push_back(pod->name);
  return all;
}

// What the pods of one Worker make of it.
struct StateCase {
  std::string name;
  std::vector<PodView> pods;
  RankState state;
  plan::Ledger ledger = {};
};

TEST(Census, TheStateOfARankIsThatOfTheOnePodThatCounts) {
  const auto plan = JobBuilder().workers(1).retry_on_exit_code().build();
  const PodView running = worker(PodPhase::Running);
  const PodView done = worker(PodPhase::Succeeded, 0);
  const std::vector<StateCase> cases = {
      {"no pod", {}, RankState::Absent},
      {"pending", {worker(PodPhase::Pending)}, RankState::Pending},
      {"its node is silent", {worker(PodPhase::Unknown)}, RankState::Pending},
      {"running", {running}, RankState::Running},
      {"succeeded", {done}, RankState::Succeeded},
      {"succeeded, nobody said how", {worker(PodPhase::Succeeded)}, RankState::Succeeded},
      {"succeeded without containers", {without_containers(done)}, RankState::Succeeded},
      {"succeeded against its exit code", {worker(PodPhase::Succeeded, 1)}, RankState::Pending},
      {"a sidecar ended badly", {with_sidecar(done, 1)}, RankState::Succeeded},
      {"failed for good", {worker(PodPhase::Failed, 1)}, RankState::Failed},
      {"failed, to be tried again", {worker(PodPhase::Failed, 137)}, RankState::Retryable},
      {"the code of a sidecar asks for no other try",
       {with_sidecar(worker(PodPhase::Failed, 1), 137)},
       RankState::Failed},
      {"failed without containers",
       {without_containers(worker(PodPhase::Failed, 137))},
       RankState::Failed},
      {"taken away", {disrupted("Worker", 0)}, RankState::Disrupted},
      {"on its way out", {going(running)}, RankState::Absent},
      {"succeeded on its way out", {going(done)}, RankState::Absent},
      {"failed on its way out", {going(worker(PodPhase::Failed, 1))}, RankState::Absent},
      {"taken away while it runs", {going(taken_away(running))}, RankState::Disrupted},
      {"taken away, its program stopped",
       {going(disrupted("Worker", 0, 143))},
       RankState::Disrupted},
      {"taken away, its program ended well", {going(taken_away(done))}, RankState::Disrupted},
      {"about to be taken away", {taken_away(running)}, RankState::Running},
      {"taken away and replaced", {going(taken_away(running))}, RankState::Absent, replaced(1)},
      {"twice", {running, running}, RankState::Absent},
      {"three times", {done, done, done}, RankState::Absent},
      {"of an older run", {done}, RankState::Absent, {.epoch = 1}},
      {"of a run that nobody stored", {of_epoch(done, 1)}, RankState::Absent},
      {"of this run", {of_epoch(running, 1)}, RankState::Running, {.epoch = 1}},
      {"an older run's beside it",
       {running, of_epoch(done, 1), running},
       RankState::Succeeded,
       {.epoch = 1}},
      {"replaced", {worker(PodPhase::Failed, 1)}, RankState::Absent, replaced(1)},
      {"the replacement", {attempt(running, 1)}, RankState::Running, replaced(1)},
      {"a try whose record was lost", {attempt(running, 2)}, RankState::Running, replaced(1)},
  };
  for (const StateCase& c : cases) {
    const Census census(plan, c.pods, c.ledger);
    ASSERT_EQ(census.ranks().size(), 1U) << c.name;
    EXPECT_EQ(census.ranks()[0].state, c.state) << c.name;
  }
}

TEST(Census, ARankKnowsWhyItsPodDoesNotCount) {
  const auto plan = JobBuilder().workers(3).build();
  const std::vector<PodView> pods = {pod("Worker", 0, PodPhase::Running),
                                     pod("Worker", 1, PodPhase::Running),
                                     pod("Worker", 1, PodPhase::Running)};
  const Census census(plan, pods, replaced(1));
  EXPECT_TRUE(census.rank("Worker", 0)->superseded);
  EXPECT_FALSE(census.rank("Worker", 0)->ambiguous);
  EXPECT_FALSE(census.rank("Worker", 1)->superseded) << "only Worker 0 was replaced";
  EXPECT_TRUE(census.rank("Worker", 1)->ambiguous);
  EXPECT_EQ(census.rank("Worker", 2)->pod, nullptr);
  EXPECT_FALSE(census.rank("Worker", 2)->superseded);
  EXPECT_FALSE(census.rank("Worker", 2)->ambiguous);
}

TEST(Census, TriesOfOneRoleAreNotThoseOfAnother) {
  const auto plan = JobBuilder().scheduler().workers(1).build();
  const std::vector<PodView> pods = {pod("Scheduler", 0, PodPhase::Running),
                                     pod("Worker", 0, PodPhase::Running)};
  const Census census(plan, pods, replaced(1));
  EXPECT_TRUE(census.rank("Scheduler", 0)->is(RankState::Running));
  EXPECT_TRUE(census.rank("Worker", 0)->is(RankState::Absent));
}

TEST(Census, RanksAreInOrderHoweverPodsCome) {
  const auto plan = JobBuilder().scheduler().role("PS", "ps", 0).workers(3).build();
  const std::vector<PodView> pods = {
      pod("Worker", 2, PodPhase::Failed, 1), pod("Worker", 0, PodPhase::Running),
      pod("Scheduler", 0, PodPhase::Running), pod("Worker", 1, PodPhase::Succeeded, 0)};
  const Census census(plan, pods, {});
  std::vector<std::string> held;
  for (const Rank& rank : census.ranks()) {
    EXPECT_EQ(rank.role->name, rank.pod->role);
    EXPECT_EQ(rank.index, rank.pod->index);
    held.push_back(rank.pod->name);
  }
  EXPECT_THAT(held,
              ElementsAre("bert-scheduler-0", "bert-worker-0", "bert-worker-1", "bert-worker-2"));
  EXPECT_THAT(census.surplus(), IsEmpty());
}

struct PlaceCase {
  std::string role;
  int index;
  bool wanted;
};

TEST(Census, WhatNoRankWantsIsSurplus) {
  const auto plan = JobBuilder().scheduler().role("PS", "ps", 0).workers(2).build();
  for (const auto& [role, index, wanted] :
       {PlaceCase{"Scheduler", 0, true}, PlaceCase{"Scheduler", 1, false},
        PlaceCase{"Worker", 0, true}, PlaceCase{"Worker", 1, true}, PlaceCase{"Worker", 2, false},
        PlaceCase{"Worker", -1, false}, PlaceCase{"PS", 0, false}, PlaceCase{"Launcher", 0, false},
        PlaceCase{"worker", 0, false}, PlaceCase{"", 0, false}}) {
    const std::vector<PodView> pods = {pod(role, index, PodPhase::Running)};
    const Census census(plan, pods, {});
    const Rank* rank = census.rank(role, index);
    ASSERT_EQ(rank != nullptr, wanted) << role << " " << index;
    EXPECT_EQ(census.surplus().empty(), wanted) << role << " " << index;
    if (wanted) EXPECT_EQ(rank->pod, pods.data()) << role << " " << index;
    EXPECT_EQ(census.ranks().size(), 3U);
  }
}

TEST(Census, APodOfAnotherRunIsSurplusAndLeavesItsRankFree) {
  const auto plan = JobBuilder().workers(2).build();
  const std::vector<PodView> pods = {pod("Worker", 0, PodPhase::Running),
                                     of_epoch(pod("Worker", 1, PodPhase::Running), 4)};
  const Census census(plan, pods, {.epoch = 4});
  EXPECT_THAT(names(census.surplus()), ElementsAre("bert-worker-0"));
  EXPECT_EQ(census.rank("Worker", 0)->pod, nullptr);
  EXPECT_TRUE(census.rank("Worker", 1)->is(RankState::Running));
}

struct CountCase {
  std::string name;
  std::vector<PodView> pods;
  RoleCount count;
  plan::Ledger ledger = {};
};

TEST(Counts, EveryRankIsCountedOnce) {
  const auto plan = JobBuilder().workers(1).retry_on_exit_code().build();
  const PodView running = restarted(worker(PodPhase::Running), 2);
  PodView restarted_init = running;
  restarted_init.containers.push_back({.name = "fetch", .init = true, .restarts = 3});
  const std::vector<CountCase> cases = {
      {"absent", {}, {.pending = 1}},
      {"pending", {worker(PodPhase::Pending)}, {.pending = 1}},
      {"running", {running}, {.active = 1, .restarts = 2}},
      {"init containers restart too", {restarted_init}, {.active = 1, .restarts = 5}},
      {"succeeded", {worker(PodPhase::Succeeded, 0)}, {.succeeded = 1}},
      {"failed", {worker(PodPhase::Failed, 1)}, {.failed = 1}},
      {"to be tried again", {worker(PodPhase::Failed, 137)}, {.pending = 1}},
      {"taken away", {disrupted("Worker", 0)}, {.pending = 1}},
      {"on its way out", {going(running)}, {.pending = 1, .restarts = 2}},
      {"replaced", {running}, {.pending = 1, .restarts = 2}, replaced(1)},
      {"twice", {running, running}, {.pending = 1}},
      {"of an older run", {running}, {.pending = 1}, {.epoch = 1}},
      {"an index too many",
       {running, pod("Worker", 1, PodPhase::Running)},
       {.active = 1, .restarts = 2}},
  };
  for (const CountCase& c : cases) {
    const plan::Counts counts = count(plan, Census(plan, c.pods, c.ledger));
    ASSERT_EQ(counts.size(), 1U) << c.name;
    EXPECT_EQ(counts.at("Worker"), c.count) << c.name;
  }
}

TEST(Counts, AreByRole) {
  const auto plan = JobBuilder().scheduler().role("PS", "ps", 0).workers(4).build();
  const std::vector<PodView> pods = {restarted(pod("Worker", 3, PodPhase::Running), 1),
                                     pod("Worker", 0, PodPhase::Succeeded, 0),
                                     restarted(pod("Scheduler", 0, PodPhase::Running), 4),
                                     restarted(pod("Worker", 1, PodPhase::Failed, 1), 2),
                                     restarted(pod("Launcher", 0, PodPhase::Running), 9)};
  const plan::Counts counts = count(plan, Census(plan, pods, {}));
  EXPECT_EQ(counts.size(), 3U) << "a role that is no more has no count";
  EXPECT_EQ(counts.at("Scheduler"), (RoleCount{.active = 1, .restarts = 4}));
  EXPECT_EQ(counts.at("PS"), RoleCount{});
  EXPECT_EQ(counts.at("Worker"),
            (RoleCount{.active = 1, .pending = 1, .succeeded = 1, .failed = 1, .restarts = 3}));
}

TEST(Counts, WhatRanWhenTheJobSucceededCountsAsSucceededForGood) {
  const auto plan = JobBuilder().scheduler().workers(3).first_worker_decides().build();
  Observed observed = begun();
  observed.pods = {pod("Scheduler", 0, PodPhase::Running), pod("Worker", 0, PodPhase::Succeeded, 0),
                   pod("Worker", 1, PodPhase::Running), pod("Worker", 2, PodPhase::Pending)};
  const Decision ending = decide(plan, observed, kStart);
  ASSERT_EQ(ending.verdict.phase, Phase::Succeeded);
  EXPECT_EQ(ending.verdict.counts.at("Scheduler"), RoleCount{.succeeded = 1});
  EXPECT_EQ(ending.verdict.counts.at("Worker"), (RoleCount{.pending = 1, .succeeded = 2}));
  observed.ledger = ending.verdict.ledger;
  EXPECT_EQ(decide(plan, observed, kStart).verdict.counts, ending.verdict.counts);
}

TEST(Counts, WhatRanWhenTheJobFailedIsStillActive) {
  const auto plan = JobBuilder().workers(2).all_workers_decide().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Failed, 1), pod("Worker", 1, PodPhase::Running)};
  const Decision ending = decide(plan, observed, kStart);
  ASSERT_EQ(ending.verdict.phase, Phase::Failed);
  EXPECT_EQ(ending.verdict.counts.at("Worker"), (RoleCount{.active = 1, .failed = 1}));
}

}  // namespace
}  // namespace muster::engine
