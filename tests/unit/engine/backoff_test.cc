#include "engine/backoff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/decide.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using plan::CauseKind;
using plan::Phase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

// backoffLimit as for a batch/v1 Job: so many restarts may be, however they came about.
struct LimitCase {
  std::string name;
  std::int64_t limit;
  std::int64_t before;  // restarts of earlier tries
  PodView pod;
  bool over;
};

PodView in_place(PodView view, std::int64_t restarts) {
  view.containers[0].restarts = restarts;
  view.containers[0].last_exit_code = 3;
  return view;
}

PodView crash_looping(std::int64_t restarts) {
  PodView view = in_place(pod("Worker", 0, PodPhase::Running), restarts);
  view.containers[0].running = false;
  view.containers[0].reason = "CrashLoopBackOff";
  return view;
}

PodView ended_in_place(int code, std::int64_t restarts) {
  PodView view = in_place(pod("Worker", 0, PodPhase::Running, code), restarts);
  view.containers[0].running = false;
  return view;
}

class InPlace : public ::testing::TestWithParam<LimitCase> {};

TEST_P(InPlace, RestartsEndTheJobWhenTheyWouldGoAboveTheLimit) {
  const LimitCase& c = GetParam();
  const auto plan = JobBuilder()
                        .workers(1)
                        .first_worker_decides()
                        .restart_in_place()
                        .limits({.backoff = c.limit})
                        .build();
  Observed observed = begun();
  observed.ledger.roles["Worker"].retired = c.before;
  observed.pods = {c.pod};
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, c.over ? Phase::Failed : Phase::Running) << c.name;
  if (!c.over) return;
  EXPECT_EQ(decision.verdict.cause->kind, CauseKind::BackoffLimit);
  EXPECT_EQ(decision.verdict.cause->pod, "bert-worker-0");
  EXPECT_EQ(decision.verdict.cause->exit_code, 3) << "how its last life ended";
  EXPECT_EQ(decision.verdict.counts.at("Worker").failed, 1) << "it is not going to be tried again";
  EXPECT_EQ(decision.verdict.counts.at("Worker").active, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Table, InPlace,
    ::testing::Values(
        LimitCase{"no restart", 0, 0, pod("Worker", 0, PodPhase::Running), false},
        LimitCase{"zero means none", 0, 0, in_place(pod("Worker", 0, PodPhase::Running), 1), true},
        LimitCase{"exactly as many", 3, 0, in_place(pod("Worker", 0, PodPhase::Running), 3), false},
        LimitCase{"one above", 3, 0, in_place(pod("Worker", 0, PodPhase::Running), 4), true},
        LimitCase{"earlier ones count", 3, 2, in_place(pod("Worker", 0, PodPhase::Running), 2),
                  true},
        LimitCase{"the next would be one above", 3, 0, crash_looping(3), true},
        LimitCase{"the next is still allowed", 3, 0, crash_looping(2), false},
        LimitCase{"it just ended and would be restarted", 0, 0, ended_in_place(3, 0), true},
        LimitCase{"it ended well and is not restarted", 0, 0, ended_in_place(0, 0), false}));

class Recreated : public ::testing::TestWithParam<LimitCase> {};

TEST_P(Recreated, PodsCountAgainstTheSameLimit) {
  const LimitCase& c = GetParam();
  const auto plan = JobBuilder()
                        .workers(1)
                        .first_worker_decides()
                        .retry_on_exit_code()
                        .limits({.backoff = c.limit})
                        .build();
  Observed observed = begun();
  if (c.before > 0) observed.ledger.roles["Worker"].attempts.set(0, c.before);
  observed.pods = {attempt(c.pod, c.before)};
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.phase, c.over ? Phase::Failed : Phase::Restarting) << c.name;
  if (!c.over) return;
  EXPECT_EQ(decision.verdict.cause->kind, CauseKind::BackoffLimit);
  EXPECT_EQ(decision.verdict.counts.at("Worker").failed, 1);
  EXPECT_EQ(decision.verdict.counts.at("Worker").pending, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Recreated,
    ::testing::Values(
        LimitCase{"zero means none", 0, 0, pod("Worker", 0, PodPhase::Failed, 137), true},
        LimitCase{"MS-11: the second of two", 2, 1, pod("Worker", 0, PodPhase::Failed, 137), false},
        LimitCase{"MS-11: the third of two", 2, 2, pod("Worker", 0, PodPhase::Failed, 137), true},
        LimitCase{"a disruption is not counted", 0, 0, disrupted("Worker", 0, 137), false}));

TEST(Backoff, EarlierDisruptionsAreNotCounted) {
  const auto plan = JobBuilder()
                        .workers(1)
                        .first_worker_decides()
                        .retry_on_exit_code()
                        .limits({.backoff = 1})
                        .build();
  Observed observed = begun();
  observed.ledger.roles["Worker"].attempts.set(0, 5);
  observed.ledger.roles["Worker"].disruptions = 5;
  observed.pods = {attempt(pod("Worker", 0, PodPhase::Failed, 137), 5)};
  EXPECT_EQ(decide(plan, observed, kStart).verdict.phase, Phase::Restarting);
  observed.ledger.roles["Worker"].disruptions = 4;
  EXPECT_EQ(decide(plan, observed, kStart).verdict.phase, Phase::Failed);
}

TEST(Backoff, ALimitDoesNotFailAJobWhoseRanksAreNeverRestarted) {
  auto plan = JobBuilder().workers(2).all_workers_decide().limits({.backoff = 0}).build();
  plan.failure.clear();  // one Worker may fail
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), pod("Worker", 1, PodPhase::Failed, 1)};
  EXPECT_EQ(decide(plan, observed, kStart).verdict.phase, Phase::Running);
}

struct RoleLimit {
  std::string name;
  std::int64_t limit;
  std::int64_t workers_restarts;
  std::int64_t schedulers_restarts;
  Phase expected;
};

TEST(Backoff, ALimitOfOneRoleCountsThatRoleAlone) {
  const std::vector<RoleLimit> cases = {
      {"below", 2, 1, 0, Phase::Running},      {"as often as it may", 2, 2, 0, Phase::Running},
      {"once more", 2, 3, 0, Phase::Failed},   {"others are not counted", 2, 2, 9, Phase::Running},
      {"none at all", 0, 1, 0, Phase::Failed},
  };
  for (const RoleLimit& c : cases) {
    auto plan = JobBuilder()
                    .role("Scheduler", "scheduler", 1)
                    .workers(2)
                    .all_workers_decide()
                    .restart_in_place("Always")
                    .build();
    for (plan::Role& role : plan.roles) role.after.clear(), role.values.clear();
    plan.roles[1].retry.limit = c.limit;
    Observed observed = begun();
    observed.pods = {pod("Scheduler", 0, PodPhase::Running), pod("Worker", 0, PodPhase::Running),
                     pod("Worker", 1, PodPhase::Running)};
    observed.pods[0].containers[0].restarts = c.schedulers_restarts;
    observed.pods[2].containers[0].restarts = c.workers_restarts;
    const Decision decision = decide(plan, observed, kStart);
    EXPECT_EQ(decision.verdict.phase, c.expected) << c.name;
    if (c.expected != Phase::Failed) continue;
    EXPECT_EQ(decision.verdict.cause->kind, plan::CauseKind::BackoffLimit) << c.name;
    EXPECT_EQ(decision.verdict.cause->pod, "bert-worker-1") << c.name;
  }
}

// A master that is tried again under another name, beside workers that kubelets restart.
plan::Plan master_and_workers(std::int64_t limit) {
  JobBuilder builder;
  builder.completions(1, 1);
  plan::Plan plan = builder.build();
  plan.roles[0].name = "Master";
  plan.roles[0].retry.limit = limit;
  plan.success = {plan::all_of("Master", plan::RankSet::Outcome::Succeeded)};
  plan.running = plan::any_of("Master", plan::RankSet::Outcome::Running);
  plan::Role workers{.name = "Worker",
                     .replicas = 2,
                     .pod_name = {.stem = "bert-worker"},
                     .main_container = "mindspore",
                     .retry = {.on = plan::Retry::On::AnyFailure},
                     .on_success = plan::CleanUp::All,
                     .on_failure = plan::CleanUp::All,
                     .on_limit = plan::CleanUp::All};
  workers.pod = plan.roles[0].pod;
  workers.pod["spec"]["restartPolicy"] = "Always";
  plan.roles.push_back(std::move(workers));
  return plan;
}

TEST(Backoff, AMasterIsTriedUnderNewNamesWhileItsWorkersComeAndGo) {
  const plan::Plan plan = master_and_workers(2);
  Observed observed = begun();
  std::set<std::string> names;
  Time now = kStart;
  for (int failures = 0;; ++failures) {
    const Decision begins = decide(plan, observed, now);
    observed.ledger = begins.verdict.ledger;
    const auto made = actions<CreatePod>(begins);
    const auto master = std::ranges::find(made, std::string("Master"),
                                          [](const CreatePod& one) { return one.role->name; });
    if (master == made.end()) break;
    EXPECT_TRUE(names.insert(master->name).second) << master->name << " twice";
    PodView view = attempt(pod("Master", 0, PodPhase::Failed, 1), master->attempt);
    view.name = master->name;
    view.uid = "uid-" + master->name;
    std::erase_if(observed.pods, [](const PodView& one) { return one.role == "Worker"; });
    observed.pods.push_back(view);
    for (int i = 0; i < 2; ++i) observed.pods.push_back(pod("Worker", i, PodPhase::Running));
    observed.pods.back().containers[0].restarts = 7;
    const Decision failed = decide(plan, observed, now);
    observed.ledger = failed.verdict.ledger;
    EXPECT_EQ(failed.verdict.phase == Phase::Failed, failures == 2) << failures;
    now += 1h;
    if (failures < 2) continue;
    EXPECT_EQ(failed.verdict.cause->kind, plan::CauseKind::BackoffLimit);
    EXPECT_EQ(failed.verdict.counts.at("Master").failed, 3);
    EXPECT_THAT(deleted_pods(failed), ::testing::ElementsAre("bert-worker-0", "bert-worker-1"));
    break;
  }
  EXPECT_EQ(names.size(), 3U);
}

TEST(Backoff, AWorkerThatIsLostIsMadeAnewAndCountsForNobody) {
  const plan::Plan plan = master_and_workers(0);
  Observed observed = begun();
  observed.pods = {pod("Master", 0, PodPhase::Running), pod("Worker", 0, PodPhase::Running),
                   pod("Worker", 1, PodPhase::Running)};
  observed.ledger = decide(plan, observed, kStart).verdict.ledger;
  observed.pods.pop_back();
  EXPECT_THAT(created_pods(decide(plan, observed, kStart)),
              ::testing::ElementsAre("bert-worker-1"));
  observed.pods.push_back(disrupted("Worker", 1));
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_FALSE(plan::is_terminal(decision.verdict.phase));
  EXPECT_THAT(deleted_pods(decision), ::testing::ElementsAre("bert-worker-1"));
}

TEST(Backoff, RestartSumsNeverFall) {
  const auto plan = JobBuilder().workers(2).all_workers_decide().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), pod("Worker", 1, PodPhase::Running)};
  observed.pods[1].containers[0].restarts = 4;
  Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.counts.at("Worker").restarts, 4);
  observed.ledger = decision.verdict.ledger;
  observed.pods.pop_back();  // deleted by hand
  decision = decide(plan, observed, kStart);
  EXPECT_EQ(decision.verdict.counts.at("Worker").restarts, 4);
  observed.ledger = decision.verdict.ledger;
  observed.pods.push_back(pod("Worker", 1, PodPhase::Running));
  observed.pods[1].containers[0].restarts = 1;
  EXPECT_EQ(decide(plan, observed, kStart).verdict.counts.at("Worker").restarts, 5);
}

}  // namespace
}  // namespace muster::engine
