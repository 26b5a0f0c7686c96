#include "plan/ledger.h"

#include <gtest/gtest.h>

#include "json/write.h"

namespace muster::plan {
namespace {

using namespace std::chrono_literals;

constexpr Time kStart = Time(std::chrono::seconds(1'800'000'000));

Ledger full() {
  Ledger ledger{.observed_generation = 3, .epoch = 2, .run_key = "debug", .start_time = kStart};
  ledger.roles["Worker"] = {.attempts = {{0, 1}, {1, 1}, {5, 2}},
                            .not_before = {{5, kStart + 1s}},
                            .recovering = IndexSet::parse("0-1,5"),
                            .retired = 2,
                            .restarts = 6,
                            .disruptions = 1};
  ledger.roles["PS"].restarts = 1;
  ledger.cause = Cause{.role = "Worker", .index = 5, .exit_code = 137, .at = kStart};
  ledger.limits = {.deadline_seconds = 60, .backoff = 9};
  ledger.phase = Phase::Restarting;
  ledger.blocked["gpu-7"] = {.since = kStart, .ranks = {{"Worker", IndexSet::parse("0-1,5")}}};
  return ledger;
}

TEST(Ledger, SurvivesTheRoundTripThroughTheStatus) {
  EXPECT_EQ(Ledger::from_json(full().to_json()), full());
  Ledger ended = full();
  ended.phase = Phase::Failed;
  ended.completion_time = kStart + 5s;
  ended.final_counts["Worker"] = {.active = 1, .failed = 2, .restarts = 6};
  EXPECT_EQ(Ledger::from_json(ended.to_json()), ended);
}

TEST(Ledger, WritesRanksThatShareAFateAsRanges) {
  const json::Value stored = full().to_json();
  EXPECT_EQ(json::write(stored["attempts"]), R"({"Worker":{"1":"0-1","2":"5"}})");
  EXPECT_EQ(json::write(stored["recovering"]), R"({"Worker":"0-1,5"})");
}

TEST(Ledger, RanksWhoseTimesDifferByLessThanIsWrittenAllWait) {
  Ledger ledger;
  ledger.roles["Worker"].not_before = {{0, kStart + 100ns}, {3, kStart + 200ns}};
  const Ledger read = Ledger::from_json(ledger.to_json());
  EXPECT_EQ(read.roles.at("Worker").not_before, (std::map<int, Time>{{0, kStart}, {3, kStart}}));
}

TEST(Ledger, WritesTheNodesThatBlockIt) {
  EXPECT_EQ(json::write(full().to_json()["blockedOnNode"]),
            R"([{"node":"gpu-7","since":"2027-01-15T08:00:00Z","ranks":{"Worker":"0-1,5"}}])");
  EXPECT_TRUE(Ledger().to_json()["blockedOnNode"].is_null());
}

TEST(Ledger, TenThousandRanksThatAllFailedFit) {
  Ledger ledger;
  for (int i = 0; i < 10'000; ++i) {
    ledger.roles["Worker"].attempts.set(i, 1 + i % 7);
    ledger.roles["Worker"].not_before[i] = kStart + 100ms * (i % 50);
    ledger.roles["Worker"].recovering.insert(i);
  }
  EXPECT_LT(json::write(ledger.to_json()).size(), 256U << 10U);
  EXPECT_EQ(Ledger::from_json(ledger.to_json()), ledger);
}

TEST(Ledger, ReadsTheFormBeforeRanges) {
  const json::Value old =
      json::Object{{"phase", "Restarting"},
                   {"attempts", json::Object{{"Worker/3", 2}, {"PS/0", 1}}},
                   {"replaced", json::Object{{"Worker/3", "some-uid"}}},
                   {"notBefore", json::Object{{"Worker/3", "2027-01-15T08:00:01.000000Z"}}},
                   {"restarts", json::Object{{"Worker", 2}}}};
  const Ledger ledger = Ledger::from_json(old);
  EXPECT_EQ(ledger.roles.at("Worker").attempts.at(3), 2);
  EXPECT_EQ(ledger.roles.at("PS").attempts.at(0), 1);
  EXPECT_TRUE(ledger.roles.at("Worker").recovering.contains(3));
  EXPECT_EQ(ledger.roles.at("Worker").not_before.at(3), kStart + 1s);
  EXPECT_EQ(ledger.restarts(), 2);
}

TEST(Ledger, IsTotal) {
  const json::Value nonsense =
      json::Object{{"phase", 7},
                   {"attempts", json::Object{{"Worker", "x"}, {"/", 1}, {"Worker/-1", 1}}},
                   {"notBefore", json::Array{}},
                   {"recovering", json::Object{{"Worker", 5}}},
                   {"blockedOnNode", json::Array{7, json::Object{{"node", "n"}}}}};
  EXPECT_EQ(Ledger::from_json(nonsense).phase, Phase::Created);
  EXPECT_FALSE(Ledger::from_json(nonsense).recovering());
}

TEST(MusterStatus, ShowsRanksAndRestarts) {
  Plan plan;
  plan.roles = {{.name = "Worker", .replicas = 4}};
  plan.selector = "role=worker";
  Verdict verdict;
  verdict.counts["Worker"] = {.active = 2, .pending = 1, .succeeded = 1, .restarts = 5};
  verdict.waiting_for = "quota";
  const json::Value status = muster_status(plan, {}, verdict);
  EXPECT_EQ(status["ranks"].as_string(), "3/4");
  EXPECT_EQ(status["restartCount"].as_int(), 5);
  EXPECT_EQ(status["selector"].as_string(), "role=worker");
  EXPECT_EQ(status["waitingFor"].as_string(), "quota");
}

TEST(MusterStatus, KeepsWhatIsShownOfAJobThatIsFrozen) {
  const json::Value old = json::Object{{"ranks", "3/4"}, {"restartCount", 5}, {"epoch", 1}};
  const json::Value status = muster_status({}, old, {});
  EXPECT_EQ(status["ranks"].as_string(), "3/4");
  EXPECT_EQ(status["restartCount"].as_int(), 5);
  EXPECT_TRUE(status["epoch"].is_null());
}

}  // namespace
}  // namespace muster::plan
