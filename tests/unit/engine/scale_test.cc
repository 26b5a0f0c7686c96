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

}  // namespace
}  // namespace muster::engine
