#include "engine/hold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "engine/decide.h"

namespace muster::engine {
namespace {

using namespace testing;
using api::PodPhase;
using plan::Note;
using plan::Phase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

JobBuilder job() {
  JobBuilder builder;
  builder.scheduler().workers(2).all_workers_decide();
  return builder;
}

Observed running() {
  Observed observed = begun();
  observed.ledger.phase = Phase::Running;
  observed.objects = {service()};
  observed.pods = {pod("Scheduler", 0, PodPhase::Running), pod("Worker", 0, PodPhase::Running),
                   pod("Worker", 1, PodPhase::Succeeded, 0)};
  return observed;
}

std::vector<Note::Kind> kinds(const Decision& decision) {
  std::vector<Note::Kind> all;
  for (const Note& note : decision.notes) all.push_back(note.kind);
  return all;
}

struct EpochCase {
  std::string name;
  std::string stored_key;
  Phase before;
  bool hold;
  std::string key;
  EpochChange expected;
  Phase phase;
};

TEST(Epoch, BeginsWhenTheRunKeyChanges) {
  const std::vector<EpochCase> cases = {
      {"goes on", "", Phase::Running, false, "", EpochChange::None, Phase::Running},
      {"is suspended", "", Phase::Running, true, "suspended", EpochChange::Held, Phase::Suspended},
      {"stays suspended", "suspended", Phase::Suspended, true, "suspended", EpochChange::None,
       Phase::Suspended},
      {"is resumed", "suspended", Phase::Suspended, false, "", EpochChange::Resumed,
       Phase::Created},
      {"is resumed in another way", "suspended", Phase::Suspended, false, "ranks=3",
       EpochChange::Resumed, Phase::Created},
      {"runs in another way", "ranks=2", Phase::Running, false, "ranks=3", EpochChange::Renewed,
       Phase::Created},
  };
  for (const EpochCase& c : cases) {
    plan::Plan plan;
    plan.hold = c.hold;
    plan.run_key = c.key;
    plan::Ledger ledger{.epoch = 4, .run_key = c.stored_key, .start_time = kStart};
    ledger.phase = c.before;
    ledger.cause = plan::Cause{};
    ledger.roles["Worker"].attempts.set(0, 7);
    ledger.roles["Worker"].restarts = 7;
    EXPECT_EQ(enter_epoch(plan, ledger, kStart + 5s), c.expected) << c.name;
    const bool changed = c.expected != EpochChange::None;
    EXPECT_EQ(ledger.epoch, changed ? 5 : 4) << c.name;
    EXPECT_EQ(ledger.phase, c.phase) << c.name;
    EXPECT_EQ(ledger.roles["Worker"].attempts.at(0), changed ? 0 : 7) << c.name;
    EXPECT_EQ(ledger.roles["Worker"].restarts, 7) << c.name;
    EXPECT_EQ(ledger.cause.has_value(), !changed) << c.name;
    const bool begun = changed && c.expected != EpochChange::Held;
    EXPECT_EQ(ledger.start_time, begun ? kStart + 5s : kStart) << c.name;
  }
}

TEST(Epoch, TheFirstRunOfAJobEndsNoOther) {
  plan::Plan plan;
  plan.run_key = "ranks=2";
  plan::Ledger ledger;
  EXPECT_EQ(enter_epoch(plan, ledger, kStart), EpochChange::Adopted);
  EXPECT_EQ(ledger.epoch, 0);
  EXPECT_EQ(ledger.run_key, "ranks=2");
  EXPECT_EQ(enter_epoch(plan, ledger, kStart), EpochChange::None);
}

TEST(Epoch, ItsKeyIsStoredBeforeTheFirstPodIsMade) {
  auto plan = job().build();
  plan.run_key = "ranks=2";
  const Decision decision = decide(plan, {}, kStart);
  EXPECT_TRUE(decision.commit_first);
  EXPECT_THAT(decision.notes, IsEmpty());
  EXPECT_EQ(decision.verdict.ledger.run_key, "ranks=2");
  EXPECT_FALSE(decision.wave.empty());
}

TEST(Epoch, AnEditThatNobodyCanFollowIsToldAsSuch) {
  auto plan = job().build();
  Observed observed = running();
  observed.ledger.run_key = "ranks=2";
  plan.run_key = "ranks=3";
  const Decision decision = decide(plan, observed, kStart + 9s);
  EXPECT_TRUE(decision.commit_first);
  EXPECT_THAT(kinds(decision), ElementsAre(Note::Kind::Renewed));
  EXPECT_EQ(decision.notes[0].detail, "ranks=3");
  EXPECT_EQ(deleted_pods(decision).size(), 3U);
  for (const auto& gone : actions<DeletePod>(decision)) EXPECT_EQ(gone.reason, Reason::Superseded);
  EXPECT_THAT(created_pods(decision), IsEmpty());
}

TEST(Suspend, AllPodsAndTheirServicesGoOnceTheLedgerSaysWhy) {
  const auto plan = job().clean(plan::CleanUp::None).suspended().build();
  const Decision decision = decide(plan, running(), kStart + 9s);
  EXPECT_TRUE(decision.commit_first);
  EXPECT_EQ(decision.verdict.phase, Phase::Suspended);
  EXPECT_THAT(deleted_pods(decision),
              ElementsAre("bert-scheduler-0", "bert-worker-0", "bert-worker-1"));
  for (const auto& gone : actions<DeletePod>(decision)) EXPECT_EQ(gone.reason, Reason::Suspended);
  EXPECT_EQ(actions<DeleteObject>(decision).size(), 1U);
  EXPECT_THAT(created_pods(decision), IsEmpty());
  EXPECT_THAT(kinds(decision), ElementsAre(Note::Kind::Suspended));
  EXPECT_EQ(decision.verdict.counts.at("Worker").active, 0);
}

TEST(Suspend, AfterACrashTheDeletionsAreRepeatedAndNothingElse) {
  const auto plan = job().suspended().build();
  Observed observed = running();
  observed.ledger = decide(plan, observed, kStart).verdict.ledger;
  const Decision again = decide(plan, observed, kStart + 1s);
  EXPECT_FALSE(again.commit_first);
  EXPECT_EQ(deleted_pods(again).size(), 3U);
  EXPECT_THAT(again.notes, IsEmpty());
  EXPECT_EQ(again.verdict.ledger, observed.ledger);
}

TEST(Suspend, AnObjectThatOutlivesItStays) {
  auto plan = job().suspended().build();
  plan.objects[0].until = plan::Until::End;
  EXPECT_THAT(actions<DeleteObject>(decide(plan, running(), kStart)), IsEmpty());
}

TEST(Suspend, AJobThatWasCreatedSoMakesNothingAndHasNotStarted) {
  const Decision decision = decide(job().suspended().build(), {}, kStart);
  EXPECT_THAT(decision.wave, IsEmpty());
  EXPECT_EQ(decision.verdict.phase, Phase::Suspended);
  EXPECT_FALSE(decision.verdict.ledger.start_time);
}

TEST(Suspend, NoDeadlinePasses) {
  const auto plan = job().limits({.deadline_seconds = 60}).suspended().build();
  Observed observed = running();
  observed.ledger = decide(plan, observed, kStart).verdict.ledger;
  const Decision decision = decide(plan, observed, kStart + 1h);
  EXPECT_EQ(decision.verdict.phase, Phase::Suspended);
  EXPECT_FALSE(decision.wake_at);
}

TEST(Resume, StartsAnewWithFreshTimesAndCountsNothingOfTheOldRun) {
  Observed observed = running();
  observed.pods[1].containers[0].restarts = 2;
  observed.ledger = decide(job().build(), observed, kStart).verdict.ledger;
  observed.ledger = decide(job().suspended().build(), observed, kStart + 10s).verdict.ledger;
  // The old pods are still on their way out.
  for (PodView& old : observed.pods) old.deleting = true;
  observed.objects.clear();
  Decision decision = decide(job().build(), observed, kStart + 20s);
  EXPECT_TRUE(decision.commit_first);
  EXPECT_EQ(decision.verdict.phase, Phase::Created);
  EXPECT_EQ(decision.verdict.ledger.start_time, kStart + 20s);
  EXPECT_THAT(kinds(decision), ElementsAre(Note::Kind::Resumed));
  EXPECT_THAT(created_pods(decision), IsEmpty()) << "their names are taken";
  EXPECT_EQ(decision.verdict.counts.at("Worker").succeeded, 0);
  EXPECT_EQ(decision.verdict.counts.at("Worker").restarts, 2) << "sums never fall";

  observed.ledger = decision.verdict.ledger;
  observed.pods.clear();
  observed.objects = {service()};
  decision = decide(job().build(), observed, kStart + 21s);
  ASSERT_EQ(created_pods(decision).size(), 3U);
  EXPECT_EQ(actions<CreatePod>(decision)[0].epoch, 2);
}

// Workers that skip their preparation once they go on.
plan::Plan with_another_template() {
  plan::Plan plan = JobBuilder().workers(1).all_workers_decide().build();
  plan::Role& role = plan.roles[0];
  role.pod["spec"]["initContainers"] = json::Array{json::Object{{"name", "download"}}};
  role.values = {{.path = {"spec", "initContainers", std::size_t{0}, "image"},
                  .value = {"rank", plan::Ordinal{}}}};
  role.pod_resumed = json::Object{
      {"spec", json::Object{{"containers", json::Array{json::Object{{"name", "mindspore"}}}}}}};
  role.values_resumed = {{.path = {"spec", "containers", std::size_t{0}, "image"},
                          .value = {"resumed", plan::Ordinal{}}}};
  return plan;
}

plan::Plan held(plan::Plan plan) {
  plan.hold = true;
  plan.run_key = "suspended";
  return plan;
}

// The image of the first container in that list of the only pod that is made.
std::string image(const char* list, const plan::Plan& plan, const Decision& decision) {
  EXPECT_EQ(created_pods(decision).size(), 1U);
  const json::Value body = make_pod(plan, actions<CreatePod>(decision).at(0));
  return body["spec"][list][0]["image"].as_string();
}

TEST(Resume, PodsAreMadeFromTheOtherTemplateFromThenOn) {
  const plan::Plan plan = with_another_template();
  Observed observed;
  Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(image("initContainers", plan, decision), "rank0");

  const auto next = [&](const plan::Plan& now) {
    observed.ledger = plan::Ledger::from_json(decision.verdict.ledger.to_json());
    decision = decide(now, observed, kStart + 5s);
  };
  next(held(plan));
  next(plan);
  EXPECT_EQ(image("initContainers", plan, decision), "");
  EXPECT_EQ(image("containers", plan, decision), "resumed0");
  // Later runs that no resume began are still after it.
  plan::Plan edited = plan;
  edited.run_key = "ranks=1";
  next(edited);
  EXPECT_EQ(image("containers", edited, decision), "resumed0");
}

TEST(Resume, AnEditThatRenewsTheRunIsNone) {
  plan::Plan plan = with_another_template();
  Observed observed = begun();
  observed.ledger.run_key = "debug";
  const Decision decision = decide(plan, observed, kStart);
  EXPECT_EQ(image("initContainers", plan, decision), "rank0");
  EXPECT_FALSE(decision.verdict.ledger.is_resuming());
}

TEST(Resume, IsUnderWayUntilTheJobRuns) {
  const plan::Plan plan = with_another_template();
  Observed observed;
  observed.ledger = decide(held(plan), observed, kStart).verdict.ledger;
  EXPECT_FALSE(observed.ledger.is_resuming());
  observed.ledger = decide(plan, observed, kStart + 1s).verdict.ledger;
  EXPECT_TRUE(observed.ledger.is_resuming()) << "also of a job that was created suspended";
  observed.pods = {pod("Worker", 0, PodPhase::Pending)};
  observed.pods[0].epoch = 2;
  observed.ledger = decide(plan, observed, kStart + 2s).verdict.ledger;
  EXPECT_TRUE(observed.ledger.is_resuming());
  observed.pods[0].phase = PodPhase::Running;
  observed.ledger = decide(plan, observed, kStart + 3s).verdict.ledger;
  EXPECT_FALSE(observed.ledger.is_resuming());
}

TEST(Suspend, ARankThatFailsMeanwhileIsNotMadeAnew) {
  plan::Plan plan = JobBuilder().workers(2).all_workers_decide().retry_on_exit_code().build();
  Observed observed = begun();
  observed.pods = {pod("Worker", 0, PodPhase::Running), pod("Worker", 1, PodPhase::Running)};
  observed.ledger = decide(held(plan), observed, kStart).verdict.ledger;
  observed.pods = {pod("Worker", 0, PodPhase::Failed, 143)};
  observed.pods[0].deleting = true;
  const Decision decision = decide(held(plan), observed, kStart + 1s);
  EXPECT_EQ(decision.verdict.phase, Phase::Suspended);
  EXPECT_THAT(decision.wave, IsEmpty());
  EXPECT_EQ(decision.verdict.ledger, observed.ledger);
}

TEST(Suspend, AFinishedJobStaysFinished) {
  Observed observed = running();
  observed.ledger.phase = Phase::Succeeded;
  observed.ledger.completion_time = kStart;
  const Decision decision = decide(job().suspended().build(), observed, kStart);
  EXPECT_EQ(decision.verdict.phase, Phase::Succeeded);
  EXPECT_EQ(decision.verdict.ledger, observed.ledger);
}

TEST(Frozen, ASuspendedJobHasNoDeadlineEither) {
  Observed observed = begun();
  observed.ledger.phase = Phase::Suspended;
  observed.ledger.limits.deadline_seconds = 60;
  EXPECT_EQ(decide_frozen(job().build().job, observed, kStart + 1h).verdict.phase,
            Phase::Suspended);
}

}  // namespace
}  // namespace muster::engine
