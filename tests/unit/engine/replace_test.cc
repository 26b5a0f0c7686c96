// Objects that gate containers: what they say is always true, or they are not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/children.h"
#include "engine/decide.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

const plan::ObjectId kPeers{api::config_maps(), "bert"};

// Workers that read the addresses of all of them from one ConfigMap.
plan::Plan meeting(int workers) {
  JobBuilder builder;
  builder.workers(workers).all_workers_decide();
  plan::Plan plan = builder.build();
  plan::Value list;
  for (int i = 0; i < workers; ++i) {
    if (i > 0) list.emplace_back(",");
    list.emplace_back(plan::PodIp{.role = "Worker", .index = i, .brackets = true});
  }
  plan.objects.push_back({.id = kPeers,
                          .body = json::Object{{"data", json::Object{{"PEERS", ""}}}},
                          .values = {{.path = {"data", "PEERS"}, .value = list}},
                          .on_change = plan::OnChange::Replace,
                          .until = plan::Until::JobGone});
  return plan;
}

PodView worker(int index, const std::string& ip) {
  PodView view = pod("Worker", index, ip.empty() ? PodPhase::Pending : PodPhase::Running);
  view.ip = ip;
  return view;
}

Observed with(std::vector<PodView> pods) {
  Observed observed = begun();
  observed.pods = std::move(pods);
  return observed;
}

std::vector<std::string> created_objects(const Decision& decision) {
  std::vector<std::string> names;
  for (const auto& action : actions<CreateObject>(decision)) names.push_back(action.name);
  return names;
}

std::vector<std::string> deleted_objects(const Decision& decision) {
  std::vector<std::string> names;
  for (const auto& action : actions<DeleteObject>(decision)) names.push_back(action.name);
  return names;
}

// The ConfigMap as the server has it after the engine made it.
ObjectView made(const plan::Plan& plan, const Observed& observed) {
  const Decision decision = decide(plan, observed, kStart);
  const auto creations = actions<CreateObject>(decision);
  EXPECT_EQ(creations.size(), 1U);
  json::Value body = make_object(plan, creations.at(0));
  body["metadata"]["uid"] = "uid-peers";
  return ObjectView::from(api::config_maps(), body);
}

// A running job of two, with its ConfigMap.
Observed meeting_of_two() {
  Observed observed = with({worker(0, "10.0.0.1"), worker(1, "10.0.0.2")});
  observed.objects = {made(meeting(2), observed)};
  return observed;
}

TEST(Replaced, PodsDoNotWaitForItAndItWaitsForTheirAddresses) {
  EXPECT_EQ(created_pods(decide(meeting(2), with({}), kStart)).size(), 2U);
  const Decision waits = decide(meeting(2), with({worker(0, "10.0.0.1"), worker(1, "")}), kStart);
  EXPECT_THAT(created_objects(waits), IsEmpty());
  EXPECT_THAT(waits.verdict.waiting_for, HasSubstr("ConfigMap bert"));
  EXPECT_THAT(created_objects(
                  decide(meeting(2), with({worker(0, "10.0.0.1"), worker(1, "10.0.0.2")}), kStart)),
              ElementsAre("bert"));
}

TEST(Replaced, HoldsTheAddressesAndTheHashOfWhatItSays) {
  const Observed v6 = with({worker(0, "fd00::1"), worker(1, "10.0.0.2")});
  const plan::Plan plan = meeting(2);
  const Decision decision = decide(plan, v6, kStart);
  const json::Value body = make_object(plan, actions<CreateObject>(decision).at(0));
  EXPECT_EQ(body["data"]["PEERS"].as_string(), "[fd00::1],10.0.0.2");
  const std::string hash = body["metadata"]["annotations"][plan::kContentAnnotation].as_string();
  EXPECT_EQ(hash.size(), 16U);
  EXPECT_NE(hash, made(plan, with({worker(0, "fd00::2"), worker(1, "10.0.0.2")})).content);
}

TEST(Replaced, IsLeftAloneWhileItIsTrue) {
  const Decision decision = decide(meeting(2), meeting_of_two(), kStart);
  EXPECT_THAT(decision.wave, IsEmpty());
}

struct Outdating {
  std::string name;
  plan::Plan plan;
  std::vector<PodView> pods;
  std::vector<std::string> pods_made;  // once it is gone
};

TEST(Replaced, GoesWhenItIsNoLongerTrueAndNoPodIsMadeBeforeItIsGone) {
  PodView going = worker(1, "10.0.0.2");
  going.deleting = true;
  plan::Plan edited = meeting(2);
  edited.objects[0].body["data"]["PORT"] = "1";
  const std::vector<Outdating> cases = {
      {"a pod is gone", meeting(2), {worker(0, "10.0.0.1")}, {"bert-worker-1"}},
      {"a pod is going", meeting(2), {worker(0, "10.0.0.1"), going}, {}},
      {"a pod has another address", meeting(2), {worker(0, "10.0.0.1"), worker(1, "10.0.0.3")}, {}},
      {"it lists one more",
       meeting(3),
       {worker(0, "10.0.0.1"), worker(1, "10.0.0.2")},
       {"bert-worker-2"}},
      {"it says something else", edited, {worker(0, "10.0.0.1"), worker(1, "10.0.0.2")}, {}},
  };
  for (const Outdating& c : cases) {
    SCOPED_TRACE(c.name);
    Observed observed = with(c.pods);
    observed.objects = meeting_of_two().objects;
    const Decision first = decide(c.plan, observed, kStart);
    EXPECT_THAT(deleted_objects(first), ElementsAre("bert"));
    EXPECT_EQ(actions<DeleteObject>(first).at(0).reason, Reason::Outdated);
    EXPECT_EQ(actions<DeleteObject>(first).at(0).uid, "uid-peers");
    EXPECT_THAT(created_pods(first), IsEmpty());
    EXPECT_THAT(created_objects(first), IsEmpty());

    observed.objects[0].deleting = true;
    const Decision second = decide(c.plan, observed, kStart);
    EXPECT_THAT(second.wave, IsEmpty());
    EXPECT_THAT(second.verdict.waiting_for, HasSubstr("ConfigMap bert"));

    observed.objects.clear();
    EXPECT_EQ(created_pods(decide(c.plan, observed, kStart)), c.pods_made);
  }
}

TEST(Replaced, GoesTogetherWithAPodThatIsReplaced) {
  plan::Plan plan = meeting(2);
  for (plan::Role& role : plan.roles) role.retry.on = plan::Retry::On::Disruption;
  Observed observed = meeting_of_two();
  observed.pods[1] = disrupted("Worker", 1);
  observed.pods[1].ip = "10.0.0.2";
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_TRUE(decision.commit_first);
  EXPECT_THAT(deleted_pods(decision), ElementsAre("bert-worker-1"));
  EXPECT_THAT(deleted_objects(decision), ElementsAre("bert"));
}

TEST(Replaced, ComesBackWhenSomebodyDeletesIt) {
  Observed observed = meeting_of_two();
  const std::string content = observed.objects[0].content;
  observed.objects.clear();
  EXPECT_THAT(created_objects(decide(meeting(2), observed, kStart)), ElementsAre("bert"));
  EXPECT_EQ(made(meeting(2), observed).content, content);
}

TEST(Replaced, ANewRunBeginsWithoutTheOldOne) {
  Observed observed = meeting_of_two();
  observed.ledger.run_key = "ranks=2";
  plan::Plan three = meeting(3);
  three.run_key = "ranks=3";
  const Decision decision = decide(three, observed, kStart);
  EXPECT_TRUE(decision.commit_first);
  EXPECT_EQ(deleted_pods(decision).size(), 2U);
  EXPECT_THAT(deleted_objects(decision), ElementsAre("bert"));
}

TEST(Replaced, IsGoneWithItsJobOnlyAndIsNotMadeAfterTheEnd) {
  Observed observed = meeting_of_two();
  for (PodView& pod : observed.pods) {
    pod.phase = PodPhase::Succeeded;
    pod.containers[0] = {.name = "mindspore", .exit_code = 0};
  }
  auto plan = meeting(2);
  for (auto& role : plan.roles) role.on_success = plan::CleanUp::All;
  const Decision end = decide(plan, observed, kStart);
  EXPECT_EQ(end.verdict.phase, plan::Phase::Succeeded);
  EXPECT_EQ(deleted_pods(end).size(), 2U);
  EXPECT_THAT(deleted_objects(end), IsEmpty());
  observed.ledger = end.verdict.ledger;
  observed.objects.clear();
  observed.pods.clear();
  EXPECT_THAT(decide(plan, observed, kStart + 1s).wave, IsEmpty());
}

// A running job of two, whose first rank waits for what its node calls so.
Observed waiting_for(const std::string& lacking) {
  Observed observed = meeting_of_two();
  observed.pods[0].phase = PodPhase::Pending;
  observed.pods[0].containers[0] = {.name = "mindspore",
                                    .reason = "CreateContainerConfigError",
                                    .message = lacking + " not found"};
  return observed;
}

TEST(Replaced, WaitingForItIsNothingToWarnOf) {
  Observed observed = waiting_for("configmap \"bert\"");
  observed.objects.clear();
  EXPECT_THAT(decide(meeting(2), observed, kStart).notes, IsEmpty());
  EXPECT_EQ(decide(meeting(2), waiting_for("secret \"bert-key\""), kStart).notes.size(), 1U);
}

TEST(Replaced, ItsNodesHaveTwoMinutesToSeeIt) {
  Observed observed = waiting_for("configmap \"bert\"");
  observed.objects[0].made_at = kStart;
  const Decision soon = decide(meeting(2), observed, kStart + 119s);
  EXPECT_THAT(soon.notes, IsEmpty());
  EXPECT_EQ(soon.wake_at, kStart + 2min);
  EXPECT_EQ(decide(meeting(2), observed, kStart + 2min).notes.size(), 1U)
      << "it is there, and still somebody waits for it";
}

}  // namespace
}  // namespace muster::engine
