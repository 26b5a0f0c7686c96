#include <gtest/gtest.h>

#include "base/limits.h"
#include "support.h"

namespace muster::dialects::test {
namespace {

using namespace std::chrono_literals;
using plan::Cause;
using plan::CauseKind;
using plan::Phase;
using plan::Verdict;

const Time kNow = parse_time("2026-11-15T03:04:05Z").value();

Verdict verdict(Phase phase) {
  Verdict out;
  out.phase = phase;
  out.ledger.phase = phase;
  out.ledger.start_time = kNow;
  return out;
}

Verdict failed(Cause cause) {
  auto out = verdict(Phase::Failed);
  out.cause = std::move(cause);
  return out;
}

// "Created Running=False Succeeded"
std::string states(const json::Value& status) {
  std::string out;
  for (const auto& condition : status["conditions"].as_array()) {
    if (!out.empty()) out += ' ';
    out += condition["type"].as_string();
    if (condition["status"].as_string() != "True") out += "=" + condition["status"].as_string();
  }
  return out;
}

const json::Value& last(const json::Value& status) {
  return status["conditions"].as_array().back();
}

class MSJobStatus : public testing::Test {
 protected:
  // Applies one verdict after the other, as the controller does.
  void apply(const Verdict& next) {
    now_ += 1s;
    status_ = dialect().status(plan_, status_, next, now_);
  }

  plan::Plan plan_ = job("bert").scheduler().workers(2).plan();
  json::Value status_;
  Time now_ = kNow;
};

TEST_F(MSJobStatus, RequiredFieldsAreThereFromTheStart) {
  apply(verdict(Phase::Created));
  EXPECT_EQ(states(status_), "Created");
  EXPECT_EQ(last(status_)["reason"].as_string(), "MSJobCreated");
  EXPECT_EQ(last(status_)["message"].as_string(), "MSJob bert is created.");
  EXPECT_EQ(status_["replicaStatuses"], parse(R"(
Scheduler: {active: 0, succeeded: 0, failed: 0}
Worker: {active: 0, succeeded: 0, failed: 0}
)"));
  EXPECT_EQ(status_["startTime"].as_string(), "2026-11-15T03:04:05Z");
  EXPECT_TRUE(status_["completionTime"].is_null());
}

TEST_F(MSJobStatus, ALifeWithARestart) {
  apply(verdict(Phase::Created));
  apply(verdict(Phase::Running));
  EXPECT_EQ(states(status_), "Created Running");
  EXPECT_EQ(last(status_)["message"].as_string(), "MSJob team/bert is running.");
  auto restarting = verdict(Phase::Restarting);
  restarting.cause = Cause{.role = "Worker"};
  apply(restarting);
  EXPECT_EQ(states(status_), "Created Restarting");
  EXPECT_EQ(last(status_)["message"].as_string(),
            "MSJob bert is restarting because Worker replica(s) failed.");
  apply(verdict(Phase::Running));
  EXPECT_EQ(states(status_), "Created Running");
  apply(verdict(Phase::Succeeded));
  EXPECT_EQ(states(status_), "Created Running=False Finished Succeeded");
  EXPECT_EQ(last(status_)["reason"].as_string(), "MSJobSucceeded");
  EXPECT_EQ(last(status_)["message"].as_string(), "MSJob team/bert successfully completed.");
}

TEST_F(MSJobStatus, WhatItWaitsForIsInTheConditionOfItsPhase) {
  auto waits = verdict(Phase::Created);
  waits.waiting_for = "Worker 0 to start: ErrImagePull: not found";
  apply(verdict(Phase::Created));
  const std::string since = last(status_)["lastTransitionTime"].as_string();
  apply(waits);
  EXPECT_EQ(last(status_)["message"].as_string(),
            "MSJob bert is created. Waiting for Worker 0 to start: ErrImagePull: not found");
  EXPECT_EQ(last(status_)["reason"].as_string(), "MSJobCreated");
  EXPECT_EQ(last(status_)["lastTransitionTime"].as_string(), since);
  EXPECT_NE(last(status_)["lastUpdateTime"].as_string(), since);
  const json::Value before = status_;
  apply(waits);
  EXPECT_EQ(status_, before) << "it says so already";
  waits.waiting_for = "node gpu-7 to answer";
  apply(waits);
  EXPECT_EQ(last(status_)["message"].as_string(),
            "MSJob bert is created. Waiting for node gpu-7 to answer");
  auto running = verdict(Phase::Running);
  running.waiting_for = "Worker 1 to start: ErrImagePull: not found";
  apply(running);
  EXPECT_EQ(status_["conditions"].as_array().front()["message"].as_string(),
            "MSJob bert is created.");
  EXPECT_EQ(last(status_)["message"].as_string(),
            "MSJob team/bert is running. Waiting for Worker 1 to start: ErrImagePull: not found");
  apply(verdict(Phase::Succeeded));
  EXPECT_EQ(status_["conditions"][1]["message"].as_string(), "MSJob team/bert is running.");
}

TEST_F(MSJobStatus, TheEndLeavesNothingTrueThatIsOver) {
  apply(verdict(Phase::Created));
  auto restarting = verdict(Phase::Restarting);
  restarting.cause = Cause{.role = "Worker"};
  apply(restarting);
  apply(verdict(Phase::Succeeded));
  EXPECT_EQ(states(status_), "Created Restarting=False Finished Succeeded");
}

TEST_F(MSJobStatus, SuspensionAndResumption) {
  apply(verdict(Phase::Running));
  auto suspended = verdict(Phase::Suspended);
  suspended.counts["Worker"] = {.failed = 1};
  apply(suspended);
  EXPECT_EQ(states(status_), "Created Running=False Suspended");
  EXPECT_EQ(status_["conditions"][1]["reason"].as_string(), "MSJobSuspended");
  EXPECT_EQ(last(status_)["reason"].as_string(), "MSJobSuspended");
  EXPECT_EQ(last(status_)["message"].as_string(), "MSJob bert is suspended.");
  EXPECT_EQ(status_["replicaStatuses"]["Worker"], parse("{active: 0, succeeded: 0, failed: 1}"));
  apply(verdict(Phase::Created));
  EXPECT_EQ(states(status_), "Created Running=False Suspended=False");
  EXPECT_EQ(last(status_)["reason"].as_string(), "MSJobResumed");
  EXPECT_EQ(last(status_)["message"].as_string(), "MSJob bert is resumed.");
  const auto before = status_;
  apply(verdict(Phase::Created));
  EXPECT_EQ(status_, before);
  apply(verdict(Phase::Running));
  EXPECT_EQ(states(status_), "Created Suspended=False Running");
  apply(verdict(Phase::Succeeded));
  EXPECT_EQ(states(status_), "Created Suspended=False Running=False Finished Succeeded");
}

TEST_F(MSJobStatus, AJobCreatedSuspendedIsCreatedAndSuspended) {
  apply(verdict(Phase::Suspended));
  EXPECT_EQ(states(status_), "Created Suspended");
}

TEST_F(MSJobStatus, ThePhaseIsReadBack) {
  const std::vector<Phase> life = {Phase::Created,   Phase::Running, Phase::Restarting,
                                   Phase::Suspended, Phase::Created, Phase::Running,
                                   Phase::Failed};
  for (const Phase phase : life) {
    apply(verdict(phase));
    EXPECT_EQ(dialect().phase_of(status_).phase, phase) << to_string(phase);
  }
  EXPECT_EQ(dialect().phase_of(status_).reason, "MSJobFailed");
  EXPECT_EQ(dialect().phase_of(status_).message, "MSJob team/bert has failed");
  EXPECT_EQ(dialect().phase_of({}).phase, Phase::Created);
  EXPECT_EQ(dialect().phase_of(parse("conditions: [1, {type: Failed, status: 'False'}]")).phase,
            Phase::Created);
}

TEST_F(MSJobStatus, TheSameVerdictGivesTheSameStatus) {
  apply(verdict(Phase::Running));
  const auto before = status_;
  apply(verdict(Phase::Running));
  EXPECT_EQ(status_, before);
}

TEST_F(MSJobStatus, MS7_TheEndIsFinal) {
  apply(verdict(Phase::Succeeded));
  const auto before = status_["conditions"];
  apply(failed({.role = "Worker", .failed = 1}));
  EXPECT_EQ(status_["conditions"], before);
}

TEST_F(MSJobStatus, FailureNamesItsCause) {
  struct Row {
    Cause cause;
    std::string reason;
    std::string message;
  };
  const std::vector<Row> rows = {
      {{.role = "Worker", .failed = 2},
       "MSJobFailed",
       "MSJob team/bert has failed because 2 Worker replica(s) failed."},
      {{.kind = CauseKind::BackoffLimit},
       "JobFailed",
       "Job bert has failed because it has reached the specified backoff limit"},
      {{.kind = CauseKind::Deadline},
       "JobFailed",
       "Job bert has failed because it was active longer than specified deadline"},
      {{.kind = CauseKind::InvalidSpec, .text = "spec.x: wrong"},
       "MSJobFailedValidation",
       "spec.x: wrong"},
      {{.kind = CauseKind::Rejected, .text = "the server refused pod bert-worker-0"},
       "MSJobFailed",
       "MSJob team/bert has failed because the server refused pod bert-worker-0"},
      {{.text = "no rank of bert is left"},
       "MSJobFailed",
       "MSJob team/bert has failed because no rank of bert is left"},
  };
  for (const auto& row : rows) {
    status_ = {};
    apply(failed(row.cause));
    EXPECT_EQ(states(status_), "Created Finished Failed");
    EXPECT_EQ(last(status_)["reason"].as_string(), row.reason);
    EXPECT_EQ(last(status_)["message"].as_string(), row.message);
  }
}

TEST_F(MSJobStatus, CountsAreByRole) {
  auto running = verdict(Phase::Running);
  running.counts["Scheduler"] = {.active = 1};
  running.counts["Worker"] = {.active = 1, .pending = 1, .restarts = 3};
  apply(running);
  EXPECT_EQ(status_["replicaStatuses"]["Worker"], parse("{active: 1, succeeded: 0, failed: 0}"));
}

TEST_F(MSJobStatus, WhenItEndedIsToldWithTheLastCounts) {
  auto end = verdict(Phase::Succeeded);
  end.ledger.completion_time = kNow + 90s;
  end.counts["Scheduler"] = {.succeeded = 1};
  end.counts["Worker"] = {.succeeded = 2};
  apply(end);
  EXPECT_EQ(status_["replicaStatuses"], parse(R"(
Scheduler: {active: 0, succeeded: 1, failed: 0}
Worker: {active: 0, succeeded: 2, failed: 0}
)"));
  EXPECT_EQ(status_["completionTime"].as_string(), "2026-11-15T03:05:35Z");
}

TEST_F(MSJobStatus, OurOwnMemberIsLeftToTheController) {
  status_ = parse("{muster: {phase: Running}}");
  apply(verdict(Phase::Succeeded));
  EXPECT_EQ(status_["muster"], parse("{phase: Running}"));
}

TEST_F(MSJobStatus, WhatOthersWroteStays) {
  status_ = parse(
      "{lastReconcileTime: '2026-01-01T00:00:00Z', conditions: [{type: Mine, status: 'True'}]}");
  apply(verdict(Phase::Running));
  EXPECT_EQ(status_["lastReconcileTime"].as_string(), "2026-01-01T00:00:00Z");
  EXPECT_EQ(states(status_), "Mine Running");
}

TEST_F(MSJobStatus, AStoredStatusOfAnyShapeIsRead) {
  for (const auto* junk :
       {"[1, 2]", "text", "{conditions: text}", "{conditions: [1, {}], muster: 7}"}) {
    status_ = parse(junk);
    apply(verdict(Phase::Running));
    EXPECT_EQ(states(status_), "Created Running") << junk;
  }
}

// An object that cannot be compiled: a plan without roles.
json::Value invalid_status(const JobBuilder& bad, const json::Value& stored, Time now) {
  plan::Plan plan;
  plan.job = plan::job_ref(dialect().identity().resource, bad.json());
  const auto error = dialect().compile(bad.json()).error();
  auto end = failed({.kind = CauseKind::InvalidSpec, .text = error.message});
  end.ledger.completion_time = kNow;
  return dialect().status(plan, stored, end, now);
}

TEST(MSJobInvalid, MS3_AStoredBadObjectFailsForGood) {
  const auto status = invalid_status(job("bert"), {}, kNow);
  EXPECT_EQ(states(status), "Created Finished Failed");
  EXPECT_EQ(last(status)["reason"].as_string(), "MSJobFailedValidation");
  EXPECT_NE(last(status)["message"].as_string().find("spec.msReplicaSpecs"), std::string::npos);
  EXPECT_TRUE(status["replicaStatuses"].is_object());
  EXPECT_EQ(status["completionTime"].as_string(), "2026-11-15T03:04:05Z");
  // Seen again, nothing changes: no hot loop.
  EXPECT_EQ(invalid_status(job("bert"), status, kNow + 60s), status);
}

TEST_F(MSJobStatus, AJobWithoutAPlanKeepsWhatIsShownOfItsRoles) {
  auto running = verdict(Phase::Running);
  running.counts["Worker"] = {.active = 2};
  apply(running);
  const json::Value before = status_;
  plan::Plan frozen;
  frozen.job = plan_.job;
  EXPECT_EQ(dialect().status(frozen, before, running, now_), before);
}

TEST(MSJobInvalid, MessagesAreBounded) {
  auto bad = job(std::string(100'000, 'x')).workers(1);
  const auto status = invalid_status(bad, {}, kNow);
  EXPECT_LE(last(status)["message"].as_string().size(), limits::kMaxEventMessageBytes);
}

}  // namespace
}  // namespace muster::dialects::test
