// Roles that remember who has succeeded, and run only so many pods at once.
#include "engine/remember.h"

#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/decide.h"
#include "engine/retry.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using plan::Phase;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

PodView running(int index) {
  return pod("Worker", index, PodPhase::Running);
}
PodView pending(int index) {
  return pod("Worker", index, PodPhase::Pending);
}
PodView succeeded(int index) {
  return pod("Worker", index, PodPhase::Succeeded, 0);
}
PodView failed(int index) {
  return pod("Worker", index, PodPhase::Failed, 1);
}
PodView going(PodView view) {
  view.deleting = true;
  return view;
}
PodView of_epoch(PodView view, std::int64_t epoch) {
  view.epoch = epoch;
  return view;
}

plan::IndexSet indexes(std::string_view text) {
  return plan::IndexSet::parse(text);
}

// A ledger as an earlier look left it.
struct Known {
  std::string done = {};
  std::string seen = {};
  plan::IndexCounts attempts = {};
  std::optional<Time> pause_until = {};
};

Observed observed(const Known& known, std::vector<PodView> pods) {
  Observed out = begun();
  plan::RoleLedger& role = out.ledger.roles["Worker"];
  role.done = indexes(known.done);
  role.seen = indexes(known.seen);
  role.attempts = known.attempts;
  role.pause_until = known.pause_until;
  out.pods = std::move(pods);
  return out;
}

std::vector<int> created(const Decision& decision) {
  std::vector<int> all;
  for (const auto& action : actions<CreatePod>(decision)) all.push_back(action.index);
  return all;
}

const plan::RoleLedger& ledger_of(const Decision& decision) {
  return decision.verdict.ledger.roles.at("Worker");
}

// What is done next, of 5 completions with 2 at once.
struct NextCase {
  std::string name;
  Known known;
  std::vector<PodView> pods;
  std::vector<int> created;
  std::string done = {};
  std::string seen = {};
  int failed = 0;
  Phase phase = Phase::Created;
};

TEST(Remember, WhatComesNextOfFiveCompletionsTwoAtOnce) {
  const auto plan = JobBuilder().completions(5, 2).build();
  const std::vector<NextCase> cases = {
      {.name = "the first two", .created = {0, 1}},
      {.name = "no more than two",
       .pods = {running(0), pending(1)},
       .seen = "0-1",
       .phase = Phase::Running},
      {.name = "one has succeeded: the next one",
       .known = {.seen = "0-1"},
       .pods = {succeeded(0), running(1)},
       .created = {2},
       .done = "0",
       .seen = "1",
       .phase = Phase::Running},
      {.name = "its pod was deleted meanwhile: still done",
       .known = {.done = "0", .seen = "1"},
       .pods = {running(1)},
       .created = {2},
       .done = "0",
       .seen = "1",
       .phase = Phase::Running},
      {.name = "a failure holds back everybody",
       .known = {.seen = "0-1"},
       .pods = {failed(0), running(1)},
       .seen = "1",
       .failed = 1,
       .phase = Phase::Restarting},
      {.name = "a pod that was seen is gone: it counts as failed",
       .known = {.seen = "0-1"},
       .pods = {running(1)},
       .seen = "1",
       .failed = 1,
       .phase = Phase::Restarting},
      {.name = "somebody deletes a pod: it counts at once",
       .known = {.seen = "0-1"},
       .pods = {going(running(0)), running(1)},
       .seen = "1",
       .failed = 1,
       .phase = Phase::Restarting},
      {.name = "a pod that we sent away does not count, and keeps its rank until it is gone",
       .known = {.seen = "1"},
       .pods = {going(running(0)), running(1)},
       .created = {2},
       .seen = "1",
       .phase = Phase::Running},
      {.name = "it ends well although somebody deleted it",
       .known = {.seen = "0"},
       .pods = {going(succeeded(0))},
       .created = {1, 2},
       .done = "0"},
      {.name = "the failed pod stays, and the rank goes on",
       .known = {.seen = "1", .attempts = {{0, 1}}},
       .pods = {failed(0), running(1)},
       .created = {0},
       .seen = "1",
       .failed = 1,
       .phase = Phase::Running},
      {.name = "a success ends the pause",
       .known = {.seen = "1", .attempts = {{0, 1}}, .pause_until = kStart + seconds(9)},
       .pods = {failed(0), succeeded(1)},
       .created = {0, 2},
       .done = "1",
       .failed = 1},
      {.name = "the last ones", .known = {.done = "0-3"}, .created = {4}, .done = "0-3"},
      {.name = "all have succeeded, and no pod is left",
       .known = {.done = "0-4"},
       .done = "0-4",
       .phase = Phase::Succeeded},
  };
  for (const NextCase& c : cases) {
    SCOPED_TRACE(c.name);
    const Decision decision = decide(plan, observed(c.known, c.pods), kStart);
    EXPECT_EQ(created(decision), c.created);
    EXPECT_THAT(deleted_pods(decision), IsEmpty());
    EXPECT_EQ(ledger_of(decision).done.text(), c.done);
    EXPECT_EQ(ledger_of(decision).seen.text(), c.seen);
    EXPECT_EQ(decision.verdict.counts.at("Worker").failed, c.failed);
    EXPECT_EQ(decision.verdict.counts.at("Worker").succeeded, indexes(c.done).size());
    EXPECT_EQ(decision.verdict.phase, c.phase);
  }
}

TEST(Remember, ASuccessIsStoredBeforeAnythingElseIsDone) {
  const auto plan = JobBuilder().completions(5, 2).build();
  EXPECT_TRUE(decide(plan, observed({.seen = "0"}, {succeeded(0)}), kStart).commit_first);
  EXPECT_FALSE(decide(plan, observed({.done = "0"}, {succeeded(0)}), kStart).commit_first);
}

TEST(Remember, FewerAtOnceStopsThoseThatGotLeastFar) {
  const auto plan = JobBuilder().completions(5, 1).build();
  PodView ready = running(0);
  ready.ready = true;
  const Observed three = observed({.seen = "0-2"}, {ready, running(1), pending(2)});
  const Decision decision = decide(plan, three, kStart);
  EXPECT_THAT(deleted_pods(decision), ElementsAre("bert-worker-2", "bert-worker-1"));
  // Whoever looks next finds that it was us.
  EXPECT_TRUE(decision.commit_first);
  EXPECT_EQ(ledger_of(decision).seen.text(), "0");
  EXPECT_EQ(decision.verdict.counts.at("Worker").failed, 0);
}

TEST(Remember, SuspensionKeepsWhatHasEnded) {
  auto plan = JobBuilder().completions(5, 2).suspended().build();
  Observed before = observed({.done = "0", .seen = "2-3", .attempts = {{1, 1}}},
                             {succeeded(0), failed(1), running(2), running(3)});
  const Decision held = decide(plan, before, kStart);
  EXPECT_EQ(held.verdict.phase, Phase::Suspended);
  EXPECT_THAT(deleted_pods(held), ElementsAre("bert-worker-2", "bert-worker-3"));
  EXPECT_TRUE(held.commit_first);
  EXPECT_EQ(ledger_of(held).seen.text(), "");

  plan.hold = false;
  plan.run_key.clear();
  Observed after = before;
  after.ledger = held.verdict.ledger;
  after.pods = {succeeded(0), failed(1)};
  const Decision resumed = decide(plan, after, kStart + seconds(60));
  EXPECT_EQ(created(resumed), (std::vector<int>{1, 2}));
  EXPECT_EQ(resumed.verdict.counts.at("Worker").succeeded, 1);
  EXPECT_EQ(resumed.verdict.counts.at("Worker").failed, 1);
  EXPECT_EQ(resumed.verdict.ledger.start_time, kStart + seconds(60));
}

TEST(Remember, WhatEndedWhileTheJobWasHeldCounts) {
  const auto plan = JobBuilder().completions(3, 3).suspended().build();
  Observed held = observed({}, {of_epoch(succeeded(0), 0), of_epoch(failed(1), 0)});
  held.ledger.run_key = "suspended";
  held.ledger.epoch = 1;
  held.ledger.phase = Phase::Suspended;
  const Decision decision = decide(plan, held, kStart);
  EXPECT_EQ(ledger_of(decision).done.text(), "0");
  EXPECT_EQ(ledger_of(decision).attempts.at(1), 1);
  EXPECT_EQ(decision.verdict.counts.at("Worker").failed, 1);
  EXPECT_EQ(decision.verdict.phase, Phase::Suspended);
  EXPECT_THAT(created(decision), IsEmpty());
}

struct LimitCase {
  std::string name;
  std::optional<int> limit;
  Known known;
  std::vector<PodView> pods;
  Phase phase;
  int failed = 0;
};

PodView restarted(PodView view, int times) {
  view.containers[0].restarts = times;
  return view;
}

TEST(Remember, TheLimitCountsFailedPodsAndRestartsInPlaceApart) {
  auto plan = JobBuilder().completions(5, 3).build();
  plan.roles[0].pod["spec"]["restartPolicy"] = "OnFailure";
  const std::vector<LimitCase> cases = {
      {"as many as allowed", 2, {.attempts = {{0, 2}}}, {}, Phase::Created, 2},
      {"one more", 2, {.attempts = {{0, 2}}}, {failed(1)}, Phase::Failed, 3},
      {"a lost one counts", 2, {.seen = "1", .attempts = {{0, 2}}}, {}, Phase::Failed, 3},
      {"those that run then have failed too",
       0,
       {.seen = "0-2"},
       {failed(0), running(1), pending(2)},
       Phase::Failed,
       3},
      {"restarts below the limit", 3, {}, {restarted(running(0), 2)}, Phase::Running, 0},
      {"restarts reach the limit", 3, {}, {restarted(running(0), 3)}, Phase::Failed, 1},
      {"of all pods together",
       3,
       {},
       {restarted(running(0), 2), restarted(running(1), 1)},
       Phase::Failed,
       2},
      {"none allowed, none there", 0, {}, {running(0)}, Phase::Running, 0},
      {"none allowed", 0, {}, {restarted(running(0), 1)}, Phase::Failed, 1},
      {"no limit", {}, {.attempts = {{0, 90}}}, {}, Phase::Created, 90},
  };
  for (const LimitCase& c : cases) {
    SCOPED_TRACE(c.name);
    plan.limits.backoff = c.limit;
    const Decision decision = decide(plan, observed(c.known, c.pods), kStart);
    EXPECT_EQ(decision.verdict.phase, c.phase);
    EXPECT_EQ(decision.verdict.counts.at("Worker").failed, c.failed);
  }
}

TEST(Remember, TheEndSaysWhoIsStillThereUntilNobodyIs) {
  auto plan = JobBuilder().completions(2, 2).build();
  plan.limits.backoff = 0;
  const Decision end = decide(plan, observed({}, {failed(0), running(1)}), kStart);
  EXPECT_THAT(deleted_pods(end), ElementsAre("bert-worker-1"));
  EXPECT_EQ(end.verdict.counts.at("Worker").living, 1);
  EXPECT_EQ(end.verdict.ledger.final_counts.at("Worker").living, 0);
  Observed later = begun();
  later.ledger = end.verdict.ledger;
  later.pods = {failed(0), going(running(1))};
  EXPECT_EQ(decide(plan, later, kStart).verdict.counts.at("Worker").leaving, 1);
  later.pods = {failed(0)};
  EXPECT_EQ(decide(plan, later, kStart).verdict.counts.at("Worker").leaving, 0);
}

struct QueueCase {
  std::string name;
  Known known;
  std::vector<PodView> pods;
  std::vector<int> created;
  Phase phase;
};

TEST(Remember, AWorkQueueEndsWhenOneHasSucceededAndAllHaveEnded) {
  auto plan = JobBuilder().completions(std::nullopt, 3).build();
  const std::vector<QueueCase> cases = {
      {"all begin", {}, {}, {0, 1, 2}, Phase::Created},
      {"one has succeeded: none is begun",
       {.seen = "1"},
       {succeeded(0), running(1)},
       {},
       Phase::Running},
      {"the others too", {.done = "0"}, {succeeded(0), succeeded(1)}, {}, Phase::Succeeded},
      {"a failure after the first success is not tried again",
       {.done = "0"},
       {succeeded(0), failed(1)},
       {},
       Phase::Succeeded},
      {"one is on its way out", {.done = "0"}, {going(running(1))}, {}, Phase::Succeeded},
      {"a pod of a larger queue than it is now", {.done = "7"}, {}, {}, Phase::Succeeded},
  };
  for (const QueueCase& c : cases) {
    SCOPED_TRACE(c.name);
    const Decision decision = decide(plan, observed(c.known, c.pods), kStart);
    EXPECT_EQ(created(decision), c.created);
    EXPECT_EQ(decision.verdict.phase, c.phase);
  }
  plan.limits.backoff = 0;
  EXPECT_EQ(decide(plan, observed({.done = "0"}, {failed(1)}), kStart).verdict.phase, Phase::Failed)
      << "a limit wins over success";
}

TEST(Remember, AWorkQueueShrinksByThoseThatGotLeastFar) {
  const auto plan = JobBuilder().completions(std::nullopt, 1).build();
  const Observed two = observed({.seen = "0,4"}, {pending(0), running(4)});
  EXPECT_THAT(deleted_pods(decide(plan, two, kStart)), ElementsAre("bert-worker-0"));
  const Observed done = observed({.done = "1", .seen = "0,4"}, {pending(0), running(4)});
  EXPECT_THAT(deleted_pods(decide(plan, done, kStart)), IsEmpty()) << "what it began it finishes";
}

TEST(Remember, AWorkQueueIsNotAsLongAsALabelSays) {
  const auto plan = JobBuilder().completions(std::nullopt, 2).build();
  PodView forged = running(0);
  forged.index = std::numeric_limits<int>::max();
  const Decision decision = decide(plan, observed({}, {forged}), kStart);
  EXPECT_EQ(created(decision), (std::vector<int>{0, 1}));
  EXPECT_THAT(deleted_pods(decision), ElementsAre(forged.name));
}

TEST(Remember, NothingToCompleteIsComplete) {
  const auto plan = JobBuilder().completions(0, 2).build();
  EXPECT_EQ(decide(plan, begun(), kStart).verdict.phase, Phase::Succeeded);
}

TEST(Remember, FailuresInARowHoldTheRoleBackForLonger) {
  EXPECT_EQ(role_pause(0), Duration::zero());
  EXPECT_EQ(role_pause(1), seconds(10));
  EXPECT_EQ(role_pause(2), seconds(20));
  EXPECT_EQ(role_pause(6), seconds(320));
  EXPECT_EQ(role_pause(7), seconds(600));
  EXPECT_EQ(role_pause(1'000'000), seconds(600));

  const auto plan = JobBuilder().completions(5, 3).build();
  const Decision two = decide(plan, observed({}, {failed(0), failed(1), running(2)}), kStart);
  EXPECT_EQ(ledger_of(two).pause_until, kStart + seconds(20));
  EXPECT_EQ(two.wake_at, kStart + seconds(20));
  Observed later = begun();
  later.ledger = two.verdict.ledger;
  later.pods = {failed(0), failed(1), running(2)};
  EXPECT_THAT(created(decide(plan, later, kStart + seconds(19))), IsEmpty());
  EXPECT_EQ(created(decide(plan, later, kStart + seconds(20))), (std::vector<int>{0, 1}));
}

TEST(Remember, AFailureBeforeASuccessOfTheSameLookHoldsBackNobody) {
  const auto plan = JobBuilder().completions(5, 2).build();
  PodView late = succeeded(1);
  late.finished_at = kStart + seconds(1);
  const Decision decision = decide(plan, observed({}, {failed(0), late}), kStart + seconds(2));
  EXPECT_EQ(created(decision), (std::vector<int>{2, 3}));
  EXPECT_EQ(ledger_of(decision).failures_in_a_row, 0);
}

TEST(Remember, EveryTryHasANameOfItsOwn) {
  const auto plan = JobBuilder().completions(4, 4).build();
  const plan::NameRule& rule = plan.roles[0].pod_name;
  std::set<std::string> names;
  for (int rank = 0; rank < 100; ++rank) {
    names.insert(rule.salted_name({.rank = rank}));
    names.insert(rule.salted_name({.rank = rank, .attempt = 1}));
    names.insert(rule.salted_name({.rank = rank, .epoch = 1}));
  }
  EXPECT_EQ(names.size(), 300);
  EXPECT_THAT(*names.begin(), ::testing::MatchesRegex("bert-[bcdfghjklmnpqrstvwxz2456789]{5}"));

  // A name that another try has taken is not asked for again.
  PodView other = failed(3);
  other.name = rule.salted_name({.rank = 0});
  const Decision decision = decide(plan, observed({.attempts = {{3, 1}}}, {other}), kStart);
  EXPECT_EQ(created_pods(decision).front(), rule.salted_name({.rank = 0}, 1));
}

}  // namespace
}  // namespace muster::engine
