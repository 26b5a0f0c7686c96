#include "engine/scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/decide.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using plan::Phase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

TEST(Scale, FewerReplicasDeleteTheHighestIndexesAndMoreCreateTheMissing) {
  Observed observed = begun();
  for (int i = 0; i < 3; ++i) observed.pods.push_back(pod("Worker", i, PodPhase::Running));
  const auto fewer =
      decide(JobBuilder().workers(2).first_worker_decides().build(), observed, kStart);
  EXPECT_THAT(deleted_pods(fewer), ElementsAre("bert-worker-2"));
  EXPECT_EQ(actions<DeletePod>(fewer)[0].reason, Reason::ScaleDown);
  EXPECT_EQ(actions<DeletePod>(fewer)[0].uid, "uid-bert-worker-2");
  const auto more =
      decide(JobBuilder().workers(4).first_worker_decides().build(), observed, kStart);
  EXPECT_THAT(created_pods(more), ElementsAre("bert-worker-3"));
}

TEST(ObjectsForEachRank, AreNamedAsItsPodAndKnowItsNumber) {
  const auto plan =
      JobBuilder().workers(2).first_worker_decides().service_for_each_worker().build();
  const Decision decision = decide(plan, begun(), kStart);
  const auto objects = actions<CreateObject>(decision);
  ASSERT_EQ(objects.size(), 2U);
  EXPECT_EQ(objects[1].name, "bert-worker-1");
  const json::Value body = make_object(plan, objects[1]);
  EXPECT_EQ(body["metadata"]["name"].as_string(), "bert-worker-1");
  EXPECT_EQ(body["metadata"]["labels"]["task"].as_string(), "t2");
  EXPECT_EQ(body["metadata"]["ownerReferences"][0]["uid"].as_string(), "job-uid");
  EXPECT_EQ(created_pods(decision).size(), 2U) << "no pod waits for its own Service";
}

TEST(ObjectsForEachRank, GoWithTheRankThatIsScaledAway) {
  const auto plan =
      JobBuilder().workers(1).first_worker_decides().service_for_each_worker().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), pod("Worker", 1, PodPhase::Running)};
  observed.objects = {service("bert-worker-0"), service("bert-worker-1")};
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_THAT(deleted_pods(decision), ElementsAre("bert-worker-1"));
  const auto gone = actions<DeleteObject>(decision);
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_EQ(gone[0].name, "bert-worker-1");
  EXPECT_EQ(gone[0].reason, Reason::ScaleDown);
}

TEST(Values, AConfigMapWaitsForTheAddressesOfPods) {
  auto plan = JobBuilder().workers(2).first_worker_decides().build();
  plan.objects.push_back(
      {.id = {api::config_maps(), "bert"},
       .values = {{.path = {"data", "PEERS"},
                   .value = {plan::PodIp{"Worker", 0}, ",", plan::PodIp{"Worker", 1}}}}});
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), pod("Worker", 1, PodPhase::Pending)};
  observed.pods[0].ip = "10.0.0.1";
  const Decision waiting = decide(plan, observed, kStart);
  EXPECT_THAT(actions<CreateObject>(waiting), IsEmpty());
  EXPECT_EQ(waiting.verdict.waiting_for, "an address that ConfigMap bert needs");
  observed.pods[1].ip = "10.0.0.2";
  const Decision decision = decide(plan, observed, kStart);
  const auto made = actions<CreateObject>(decision);
  ASSERT_EQ(made.size(), 1U);
  EXPECT_EQ(make_object(plan, made[0])["data"]["PEERS"].as_string(), "10.0.0.1,10.0.0.2");
}

TEST(Values, AnAddressOfAPodThatIsGoingIsNotUsed) {
  auto plan = JobBuilder().workers(1).first_worker_decides().build();
  plan.objects.push_back(
      {.id = {api::config_maps(), "bert"},
       .values = {{.path = {"data", "PEER"}, .value = {plan::PodIp{"Worker", 0}}}}});
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running)};
  observed.pods[0].ip = "10.0.0.1";
  observed.pods[0].deleting = true;
  EXPECT_THAT(actions<CreateObject>(decide(plan, observed, kStart)), IsEmpty());
}

struct NameCase {
  plan::NameRule rule;
  std::string name;
};

TEST(NameRule, HasIndexAndAttemptWhereTheKindSaysSo) {
  for (const auto& [rule, name] :
       {NameCase{{.stem = "bert-worker"}, "bert-worker-3"},
        NameCase{{.stem = "bert-launcher", .index = false}, "bert-launcher"},
        NameCase{{.stem = "bert-master", .index = false, .attempt = true}, "bert-master-2"},
        NameCase{{.stem = "bert-worker", .attempt = true}, "bert-worker-3-2"}}) {
    EXPECT_EQ(rule.name(3, 2), name);
  }
}

TEST(Scale, PodsOfAnOlderEpochAreWaitedFor) {
  const auto plan = JobBuilder().workers(1).first_worker_decides().build();
  Observed observed = begun();
  observed.ledger.epoch = 1;
  observed.pods = {pod("Worker", 1, PodPhase::Running)};  // of epoch 0
  observed.pods[0].deleting = true;
  EXPECT_THAT(decide(plan, observed, kStart).wave, IsEmpty());
  observed.pods.clear();
  EXPECT_THAT(created_pods(decide(plan, observed, kStart)), ElementsAre("bert-worker-0"));
}

struct SurplusCase {
  std::string name;
  PodView pod;
  plan::Ledger ledger;
  std::optional<Reason> reason;  // nothing: it stays
};

PodView of_epoch(PodView view, std::int64_t epoch) {
  view.epoch = epoch;
  return view;
}

PodView going(PodView view) {
  view.deleting = true;
  return view;
}

plan::Ledger replaced_twice() {
  plan::Ledger ledger;
  ledger.roles["Worker"].attempts.set(0, 2);
  return ledger;
}

TEST(Surplus, EveryDeletionHasItsReason) {
  const auto plan = JobBuilder().workers(1).build();
  const PodView wanted = pod("Worker", 0, PodPhase::Running);
  const std::vector<SurplusCase> cases = {
      {"wanted", wanted, {}, {}},
      {"an index too many", pod("Worker", 1, PodPhase::Running), {}, Reason::ScaleDown},
      {"no index at all", pod("Worker", -1, PodPhase::Running), {}, Reason::ScaleDown},
      {"a role that is no more", pod("PS", 0, PodPhase::Running), {}, Reason::ScaleDown},
      {"of an older epoch", wanted, {.epoch = 1}, Reason::Superseded},
      {"of a suspended job",
       wanted,
       {.epoch = 1, .phase = plan::Phase::Suspended},
       Reason::Suspended},
      {"of a newer epoch, which we did not store",
       of_epoch(wanted, 3),
       {.epoch = 2},
       Reason::Superseded},
      {"replaced", attempt(wanted, 1), replaced_twice(), Reason::ReplaceFailed},
      {"the try that is wanted", attempt(wanted, 2), replaced_twice(), {}},
      {"already going", going(wanted), {.epoch = 1}, {}},
  };
  for (const SurplusCase& c : cases) {
    const std::vector<PodView> pods = {c.pod};
    std::vector<Action> wave;
    remove_surplus_pods(Census(plan, pods, c.ledger), c.ledger, wave);
    ASSERT_EQ(wave.size(), c.reason ? 1U : 0U) << c.name;
    if (c.reason) EXPECT_EQ(std::get<DeletePod>(wave[0]).reason, *c.reason) << c.name;
  }
}

struct MissingCase {
  std::string name;
  std::vector<ObjectView> objects;
  std::vector<std::string> pods;
  std::string waiting_for;
};

TEST(Missing, PodsWaitForWhatTheyNeed) {
  const auto plan = JobBuilder().scheduler().workers(1).build();
  ObjectView leaving = service();
  leaving.deleting = true;
  ObjectView another = service();
  another.resource = api::config_maps();
  const std::vector<MissingCase> cases = {
      {"no Service yet", {}, {}, ""},
      {"a Service on its way out", {leaving}, {}, ""},
      {"something else of that name", {another}, {}, ""},
      {"no address yet",
       {service("bert-scheduler-0", "")},
       {"bert-scheduler-0"},
       "an address that Worker needs"},
      {"all there", {service()}, {"bert-scheduler-0", "bert-worker-0"}, ""},
  };
  for (const MissingCase& c : cases) {
    const Census census(plan, {}, {});
    std::vector<Action> wave;
    const Missing missing = create_missing(plan, census, Children(c.objects), {}, kStart, wave);
    std::vector<std::string> pods;
    for (const Action& action : wave) {
      if (const auto* made = std::get_if<CreatePod>(&action)) pods.push_back(made->name);
    }
    EXPECT_EQ(pods, c.pods) << c.name;
    EXPECT_EQ(missing.waiting_for, c.waiting_for) << c.name;
  }
}

TEST(Missing, TheEarliestWaitIsWhenToLookAgain) {
  const auto plan = JobBuilder().workers(3).build();
  plan::Ledger ledger;
  ledger.roles["Worker"].not_before = {{0, kStart + 9s}, {1, kStart + 4s}, {2, kStart}};
  std::vector<Action> wave;
  const Missing missing =
      create_missing(plan, Census(plan, {}, ledger), Children({}), ledger, kStart, wave);
  EXPECT_EQ(missing.wake_at, kStart + 4s);
  ASSERT_EQ(wave.size(), 1U);
  EXPECT_EQ(std::get<CreatePod>(wave[0]).name, "bert-worker-2");
}

TEST(Missing, AWaitLongerThanAnyIsOfAClockThatWasSetBack) {
  const auto plan = JobBuilder().workers(2).build();
  plan::Ledger ledger;
  ledger.roles["Worker"].not_before = {{0, kStart + 1h}, {1, kStart + 10min}};
  std::vector<Action> wave;
  const Missing missing =
      create_missing(plan, Census(plan, {}, ledger), Children({}), ledger, kStart, wave);
  EXPECT_EQ(missing.wake_at, kStart + 10min);
  ASSERT_EQ(wave.size(), 1U);
  EXPECT_EQ(std::get<CreatePod>(wave[0]).name, "bert-worker-0");
}

TEST(SurplusObjects, WhatThePlanHasNoMoreGoesAndWhatLeavesIsLeftAlone) {
  const auto plan = JobBuilder().scheduler().workers(1).build();
  Observed observed = begun();
  observed.objects = {service(), service("bert-old"), service("bert-older")};
  observed.objects[2].deleting = true;
  std::vector<Action> wave;
  remove_surplus_objects(plan, observed, Children(observed.objects), {}, wave);
  ASSERT_EQ(wave.size(), 1U);
  EXPECT_EQ(std::get<DeleteObject>(wave[0]).name, "bert-old");
}

}  // namespace
}  // namespace muster::engine
