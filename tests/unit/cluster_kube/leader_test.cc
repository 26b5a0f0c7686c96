#include "cluster/leader.h"

#include <gtest/gtest.h>

#include "lease_cluster.h"
#include "rt/sim_loop.h"
#include "two_clock_loop.h"

namespace muster::cluster {
namespace {

using namespace std::chrono_literals;
using Fault = LeaseCluster::Fault;

class LeaderTest : public ::testing::Test {
 protected:
  std::unique_ptr<Leader> candidate(const std::string& identity) {
    auto leader = std::make_unique<Leader>(loop_, cluster_, rng_,
                                           LeaderOptions{.ns = "muster", .identity = identity});
    leader->start();
    return leader;
  }
  std::string holder() const {
    return cluster_.lease ? (*cluster_.lease)["spec"]["holderIdentity"].as_string() : "?";
  }
  std::int64_t transitions() const {
    return (*cluster_.lease)["spec"]["leaseTransitions"].as_int(-1);
  }

  rt::SimLoop loop_{Time{}};
  SeededRng rng_{7};
  LeaseCluster cluster_{loop_};
};

TEST_F(LeaderTest, TheFirstCandidateLeadsAndKeepsLeading) {
  auto a = candidate("a");
  ASSERT_TRUE(loop_.run(a->elected()));
  EXPECT_EQ(holder(), "a");
  EXPECT_EQ((*cluster_.lease)["spec"]["leaseDurationSeconds"], json::Value(15));
  EXPECT_EQ(transitions(), 0);
  for (int i = 0; i < 600; ++i) {
    loop_.run_for(1s);
    ASSERT_TRUE(a->may_write()) << i;
  }
  loop_.run(a->close());
}

TEST_F(LeaderTest, TheSecondCandidateWaitsAndTakesAReleasedLeaseAtOnce) {
  auto a = candidate("a");
  ASSERT_TRUE(loop_.run(a->elected()));
  auto b = candidate("b");
  loop_.run_for(5min);
  EXPECT_FALSE(b->may_write());
  loop_.run(a->close());
  EXPECT_FALSE(a->may_write());
  EXPECT_EQ(holder(), "");
  const Monotonic released_at = loop_.monotonic();
  ASSERT_TRUE(loop_.run(b->elected()));
  EXPECT_LT(loop_.monotonic() - released_at, 3s);
  EXPECT_EQ(holder(), "b");
  EXPECT_EQ(transitions(), 1);
  loop_.run(b->close());
}

TEST_F(LeaderTest, ALeaderThatCannotRenewStopsWritingBeforeAnotherTakesOver) {
  auto a = candidate("a");
  ASSERT_TRUE(loop_.run(a->elected()));
  auto b = candidate("b");
  loop_.run_for(1min);
  bool cut = true;
  cluster_.fault = [&](const json::Value* written) {
    const bool from_a =
        written != nullptr && (*written)["spec"]["holderIdentity"].as_string() == "a";
    return cut && from_a ? Fault::Hangs : Fault::None;
  };
  const Monotonic cut_at = loop_.monotonic();
  std::optional<Monotonic> a_stopped;
  std::optional<Monotonic> b_began;
  while (!b_began) {
    loop_.run_for(10ms);
    ASSERT_FALSE(a->may_write() && b->may_write());
    if (!a_stopped && !a->may_write()) a_stopped = loop_.monotonic();
    if (b->may_write()) b_began = loop_.monotonic();
    ASSERT_LT(loop_.monotonic() - cut_at, 1min);
  }
  ASSERT_TRUE(a_stopped);
  EXPECT_LE(*a_stopped - cut_at, 10s + 10ms);
  EXPECT_GE(*b_began - *a_stopped, 4s);
  EXPECT_LE(*b_began - cut_at, 20s);
  loop_.run(a->lost());
  EXPECT_EQ(transitions(), 1);
  cut = false;
  loop_.run(a->close());
  EXPECT_EQ(holder(), "b");  // who lost does not release what is another's
  loop_.run(b->close());
}

TEST_F(LeaderTest, TheLossIsToldWhileARequestHangs) {
  auto a = candidate("a");
  ASSERT_TRUE(loop_.run(a->elected()));
  cluster_.fault = [](const json::Value*) { return Fault::Hangs; };
  const Monotonic cut_at = loop_.monotonic();
  loop_.run(a->lost());
  EXPECT_LE(loop_.monotonic() - cut_at, 10s);
  loop_.run(a->close());
}

TEST_F(LeaderTest, ARenewalWhoseAnswerIsLostDoesNotEndTheLeadership) {
  auto a = candidate("a");
  ASSERT_TRUE(loop_.run(a->elected()));
  int writes = 0;
  cluster_.fault = [&](const json::Value* written) {
    return written != nullptr && ++writes % 3 == 0 ? Fault::LostAfter : Fault::None;
  };
  for (int i = 0; i < 300; ++i) {
    loop_.run_for(1s);
    ASSERT_TRUE(a->may_write()) << i;
  }
  loop_.run(a->close());
}

TEST_F(LeaderTest, ACreateWhoseAnswerIsLostStillLeads) {
  bool first = true;
  cluster_.fault = [&](const json::Value* written) {
    return written != nullptr && std::exchange(first, false) ? Fault::LostAfter : Fault::None;
  };
  auto a = candidate("a");
  ASSERT_TRUE(loop_.run(a->elected()));
  EXPECT_EQ(holder(), "a");
  loop_.run(a->close());
}

TEST_F(LeaderTest, AShortOutageIsSurvived) {
  auto a = candidate("a");
  ASSERT_TRUE(loop_.run(a->elected()));
  cluster_.fault = [](const json::Value*) { return Fault::LostBefore; };
  loop_.run_for(7s);
  EXPECT_TRUE(a->may_write());
  cluster_.fault = [](const json::Value*) { return Fault::None; };
  loop_.run_for(1min);
  EXPECT_TRUE(a->may_write());
  loop_.run(a->close());
}

TEST_F(LeaderTest, ALeaseThatIsRemovedOrTakenEndsTheLeadership) {
  auto a = candidate("a");
  ASSERT_TRUE(loop_.run(a->elected()));
  json::Value foreign = *cluster_.lease;
  foreign["spec"]["holderIdentity"] = "intruder";
  foreign["metadata"]["resourceVersion"] = "999";
  cluster_.lease = std::make_shared<const json::Value>(foreign);
  loop_.run(a->lost());
  EXPECT_FALSE(a->may_write());
  loop_.run(a->close());
  EXPECT_EQ(holder(), "intruder");
}

TEST_F(LeaderTest, NeverTwoLeadersUnderRandomFaults) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    SeededRng faults(seed);
    cluster_.lease = nullptr;
    cluster_.fault = [&](const json::Value*) {
      switch (faults.below(4)) {
        case 0:
          return Fault::LostBefore;
        case 1:
          return Fault::LostAfter;
        case 2:
          return Fault::Hangs;
        default:
          return Fault::None;
      }
    };
    std::vector<std::unique_ptr<Leader>> all;
    for (const char* identity : {"a", "b", "c"}) all.push_back(candidate(identity));
    for (int i = 0; i < 3000; ++i) {
      loop_.run_for(100ms);
      int leaders = 0;
      for (const auto& each : all) leaders += each->may_write() ? 1 : 0;
      ASSERT_LE(leaders, 1);
    }
    for (const auto& each : all) loop_.run(each->close());
  }
}

// --- a machine whose clocks jump ---

// A leader on a machine of its own, whose last renewal was just sent, and nothing can renew it.
class SleepingLeader : public LeaderTest {
 protected:
  void SetUp() override {
    leader_ = std::make_unique<Leader>(machine_, cluster_, rng_,
                                       LeaderOptions{.ns = "muster", .identity = "a"});
    leader_->start();
    ASSERT_TRUE(loop_.run(leader_->elected()));
    cluster_.fault = [](const json::Value*) { return Fault::LostBefore; };
  }
  void TearDown() override { loop_.run(leader_->close()); }

  TwoClockLoop machine_{loop_};
  std::unique_ptr<Leader> leader_;
};

TEST_F(SleepingLeader, AfterASleepPastTheDeadlineTheFenceIsClosedBeforeAnythingRuns) {
  machine_.sleep(9s);
  EXPECT_TRUE(leader_->may_write());
  machine_.sleep(1s);
  EXPECT_FALSE(leader_->may_write());
  loop_.run(leader_->lost());
  EXPECT_LE(loop_.monotonic().since_start, 3s) << "the loss is told at the next renewal";
}

TEST_F(SleepingLeader, AfterAPauseThatOnlyTheWallClockKnowsOfTheFenceIsClosed) {
  machine_.set_wall_clock(11s);
  EXPECT_FALSE(leader_->may_write());
  loop_.run(leader_->lost());
}

TEST_F(SleepingLeader, AWallClockThatIsSetBackProlongsNothing) {
  machine_.set_wall_clock(-1h);
  EXPECT_TRUE(leader_->may_write());
  machine_.sleep(9s);
  EXPECT_TRUE(leader_->may_write());
  machine_.sleep(1s);
  EXPECT_FALSE(leader_->may_write());
}

TEST_F(SleepingLeader, WhatTheWallClockSaidStaysSaidWhenItIsSetBack) {
  machine_.set_wall_clock(-1h);
  EXPECT_TRUE(leader_->may_write());
  machine_.set_wall_clock(11s);  // 11 s pass that the other clock does not know of
  machine_.set_wall_clock(0s);
  EXPECT_FALSE(leader_->may_write());
  machine_.set_wall_clock(-1h);
  EXPECT_FALSE(leader_->may_write());
}

TEST_F(SleepingLeader, SmallStepsOfTheWallClockEndNoLeadership) {
  cluster_.fault = [](const json::Value*) { return Fault::None; };
  for (int i = 0; i < 600; ++i) {
    machine_.set_wall_clock(i % 2 == 0 ? 700ms : -900ms);
    loop_.run_for(1s);
    ASSERT_TRUE(leader_->may_write()) << i;
  }
}

TEST_F(LeaderTest, AWallClockThatIsSetForwardRobsNobody) {
  auto a = candidate("a");
  ASSERT_TRUE(loop_.run(a->elected()));
  TwoClockLoop machine(loop_);
  Leader b(machine, cluster_, rng_, LeaderOptions{.ns = "muster", .identity = "b"});
  b.start();
  loop_.run_for(5s);
  for (int i = 0; i < 100; ++i) {
    machine.set_wall_clock(1h);
    loop_.run_for(1s);
    ASSERT_FALSE(b.may_write());
    ASSERT_TRUE(a->may_write());
  }
  loop_.run(b.close());
  loop_.run(a->close());
}

// --- the pure steps ---

struct Row {
  const char* name;
  election::State state;
  election::Observation observed;
  Duration now;
  std::size_t next_state;   // index in the variant
  std::size_t next_action;  // index in the variant
};

ObjectPtr lease_of(const std::string& who, const std::string& version) {
  json::Value lease;
  lease["metadata"]["resourceVersion"] = version;
  lease["spec"]["holderIdentity"] = who;
  lease["spec"]["leaseDurationSeconds"] = 15;
  return std::make_shared<const json::Value>(lease);
}

TEST(ElectionStep, Table) {
  using namespace election;
  constexpr std::size_t kFollowing = 0, kLeading = 1, kReleasing = 2, kOver = 3;
  constexpr std::size_t kRead = 0, kCreate = 1, kUpdate = 2, kWait = 3, kEnd = 4;
  const Leading leading{lease_of("me", "7"), Monotonic{100s}};
  const Following followed{.version = "5", .since = Monotonic{100s}};
  const std::vector<Row> rows = {
      {"looks first", Following{}, TimerFired{}, 0s, kFollowing, kRead},
      {"makes what is absent", Following{}, LeaseAbsent{}, 0s, kFollowing, kCreate},
      {"waits for a stranger's first sight", Following{}, LeaseSeen{lease_of("other", "5")}, 1000s,
       kFollowing, kWait},
      {"waits while it is fresh", followed, LeaseSeen{lease_of("other", "5")}, 114s, kFollowing,
       kWait},
      {"takes it when it stood still", followed, LeaseSeen{lease_of("other", "5")}, 115s,
       kFollowing, kUpdate},
      {"starts anew when it moved", followed, LeaseSeen{lease_of("other", "6")}, 115s, kFollowing,
       kWait},
      {"takes what nobody holds", followed, LeaseSeen{lease_of("", "6")}, 101s, kFollowing,
       kUpdate},
      {"takes its own", followed, LeaseSeen{lease_of("me", "6")}, 101s, kFollowing, kUpdate},
      {"leads when its write was taken", followed,
       LeaseWritten{lease_of("me", "6"), Monotonic{101s}}, 102s, kLeading, kWait},
      {"does not lead on a late answer", followed,
       LeaseWritten{lease_of("me", "6"), Monotonic{101s}}, 111s, kFollowing, kRead},
      {"waits after a conflict", followed, WriteRefused{}, 101s, kFollowing, kWait},
      {"ends when asked", followed, StopAsked{}, 101s, kOver, kEnd},
      {"renews", leading, TimerFired{}, 102s, kLeading, kUpdate},
      {"is over at the deadline", leading, TimerFired{}, 110s, kOver, kEnd},
      {"reads after a conflict", leading, WriteRefused{}, 102s, kLeading, kRead},
      {"goes on from its own lost write", leading, LeaseSeen{lease_of("me", "8")}, 103s, kLeading,
       kUpdate},
      {"is over when another holds it", leading, LeaseSeen{lease_of("other", "8")}, 103s, kOver,
       kEnd},
      {"is over when it was removed", leading, LeaseAbsent{}, 103s, kOver, kEnd},
      {"tries again without an answer", leading, NoAnswer{}, 103s, kLeading, kWait},
      {"releases when asked", leading, StopAsked{}, 103s, kReleasing, kUpdate},
      {"does not release what it lost", leading, StopAsked{}, 110s, kOver, kEnd},
      {"is over after the release", Releasing{}, LeaseWritten{lease_of("", "9"), Monotonic{103s}},
       104s, kOver, kEnd},
      {"is over though the release failed", Releasing{}, NoAnswer{}, 104s, kOver, kEnd},
      {"stays over", Over{}, TimerFired{}, 104s, kOver, kEnd},
  };
  const Candidate candidate{.lease = {"ns", "l"}, .identity = "me"};
  for (const Row& row : rows) {
    const auto [state, action] =
        step(candidate, row.state, row.observed, {Monotonic{row.now}, Monotonic{row.now}, Time{}});
    EXPECT_EQ(state.index(), row.next_state) << row.name;
    EXPECT_EQ(action.index(), row.next_action) << row.name;
  }
}

TEST(ElectionStep, HolderOfAForeignLeaseGoesByItsTimes) {
  json::Value lease = *lease_of("other", "1");
  lease["spec"]["renewTime"] = "2026-01-01T00:00:00.000000Z";
  const Time renewed = parse_time("2026-01-01T00:00:00Z").value();
  EXPECT_EQ(election::holder_of(lease, renewed + 20s), "other");
  EXPECT_EQ(election::holder_of(lease, renewed + 2min), "");
  lease["spec"]["holderIdentity"] = "";
  EXPECT_EQ(election::holder_of(lease, renewed), "");
}

}  // namespace
}  // namespace muster::cluster
