// Secrets: made before the pods that need them, never looked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/decide.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

const plan::ObjectId kKey{api::secrets(), "bert-mpi-job-uid"};

// Two workers that need a key, and a scheduler that does not.
plan::Plan with_key() {
  JobBuilder builder;
  builder.role("Scheduler", "scheduler", 1).workers(2).all_workers_decide();
  plan::Plan plan = builder.build();
  for (plan::Role& role : plan.roles) role.after.clear();
  for (plan::Role& role : plan.roles) role.values.clear();
  plan.objects.push_back({.id = kKey, .source = plan::Source::SharedKey});
  plan.roles[1].after = {kKey};
  return plan;
}

std::vector<std::string> created_objects(const Decision& decision) {
  std::vector<std::string> names;
  for (const auto& action : actions<CreateObject>(decision)) names.push_back(action.name);
  return names;
}

Observed known() {
  Observed observed = begun();
  observed.secrets = {kKey.name};
  return observed;
}

TEST(Secret, IsMadeBeforeThePodsThatNeedItAndHoldsBackNobodyElse) {
  const Decision first = decide(with_key(), begun(), kStart);
  EXPECT_THAT(created_objects(first), ElementsAre(kKey.name));
  EXPECT_THAT(created_pods(first), ElementsAre("bert-scheduler-0"));
  const Decision second = decide(with_key(), known(), kStart);
  EXPECT_THAT(created_objects(second), IsEmpty());
  EXPECT_THAT(created_pods(second),
              ElementsAre("bert-scheduler-0", "bert-worker-0", "bert-worker-1"));
}

TEST(Secret, IsAskedForOnceHoweverManyRolesNeedIt) {
  plan::Plan plan = with_key();
  plan.roles[0].after = {kKey};
  EXPECT_THAT(created_objects(decide(plan, begun(), kStart)), ElementsAre(kKey.name));
}

TEST(Secret, IsNotMadeWhileNobodyNeedsIt) {
  Observed observed = begun();
  observed.pods = {pod("Scheduler", 0, PodPhase::Running), pod("Worker", 0, PodPhase::Running),
                   pod("Worker", 1, PodPhase::Running)};
  EXPECT_THAT(decide(with_key(), observed, kStart).wave, IsEmpty());
  observed.pods.pop_back();
  EXPECT_THAT(created_objects(decide(with_key(), observed, kStart)), ElementsAre(kKey.name))
      << "a process that does not know it";
}

TEST(Secret, IsFoundOutAnewInEveryRun) {
  plan::Plan held = with_key();
  held.hold = true;
  held.run_key = "suspended";
  Observed observed = known();
  observed.ledger = decide(held, observed, kStart).verdict.ledger;
  const Decision resumed = decide(with_key(), observed, kStart + 5s);
  EXPECT_THAT(created_objects(resumed), ElementsAre(kKey.name));
  EXPECT_THAT(created_pods(resumed), ElementsAre("bert-scheduler-0"));
}

TEST(Secret, IsNotMadeAfterTheEndAndNotDeletedByUs) {
  Observed observed = known();
  observed.pods = {pod("Worker", 0, PodPhase::Succeeded, 0),
                   pod("Worker", 1, PodPhase::Succeeded, 0)};
  const Decision end = decide(with_key(), observed, kStart);
  EXPECT_EQ(end.verdict.phase, plan::Phase::Succeeded);
  EXPECT_THAT(end.wave, IsEmpty());
}

}  // namespace
}  // namespace muster::engine
