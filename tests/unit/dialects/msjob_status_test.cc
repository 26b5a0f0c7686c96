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

class MindSporeStatus : public testing::Test {
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

TEST_F(MindSporeStatus, RequiredFieldsAreThereFromTheStart) {
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

TEST_F(MindSporeStatus, ALifeWithARestart) {
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

TEST_F(MindSporeStatus, TheSameVerdictGivesTheSameStatus) {
  apply(verdict(Phase::Running));
  const auto before = status_;
  apply(verdict(Phase::Running));
  EXPECT_EQ(status_, before);
}

TEST_F(MindSporeStatus, MS7_TheEndIsFinal) {
  apply(verdict(Phase::Succeeded));
  const auto before = status_["conditions"];
  apply(failed({.role = "Worker", .failed = 1}));
  EXPECT_EQ(status_["conditions"], before);
}

TEST_F(MindSporeStatus, FailureNamesItsCause) {
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

TEST_F(MindSporeStatus, CountsAndColumns) {
  auto running = verdict(Phase::Running);
  running.counts["Scheduler"] = {.active = 1};
  running.counts["Worker"] = {.active = 1, .pending = 1, .restarts = 3};
  apply(running);
  EXPECT_EQ(status_["replicaStatuses"]["Worker"], parse("{active: 1, succeeded: 0, failed: 0}"));
  EXPECT_EQ(status_["muster"]["ranks"].as_string(), "2/3");
  EXPECT_EQ(status_["muster"]["restartCount"].as_int(), 3);
}

TEST_F(MindSporeStatus, WhatRanWhenTheJobSucceededCountsAsSucceeded) {
  auto end = verdict(Phase::Succeeded);
  end.ledger.completion_time = kNow + 90s;
  end.ledger.final_counts["Scheduler"] = {.active = 1};
  end.ledger.final_counts["Worker"] = {.active = 1, .succeeded = 1};
  apply(end);  // clean-up has removed the pods: the current counts are zero
  EXPECT_EQ(status_["replicaStatuses"], parse(R"(
Scheduler: {active: 0, succeeded: 1, failed: 0}
Worker: {active: 0, succeeded: 2, failed: 0}
)"));
  EXPECT_EQ(status_["completionTime"].as_string(), "2026-11-15T03:05:35Z");
}

TEST_F(MindSporeStatus, TheLedgerComesBackAsItWas) {
  auto running = verdict(Phase::Running);
  running.ledger.attempts["Worker/1"] = 2;
  running.ledger.observed_generation = 5;
  apply(running);
  EXPECT_EQ(plan::Ledger::from_json(status_["muster"]), running.ledger);
}

TEST_F(MindSporeStatus, WhatOthersWroteStays) {
  status_ = parse(
      "{lastReconcileTime: '2026-01-01T00:00:00Z', conditions: [{type: Mine, status: 'True'}]}");
  apply(verdict(Phase::Running));
  EXPECT_EQ(status_["lastReconcileTime"].as_string(), "2026-01-01T00:00:00Z");
  EXPECT_EQ(states(status_), "Mine Running");
}

TEST_F(MindSporeStatus, AStoredStatusOfAnyShapeIsRead) {
  for (const auto* junk :
       {"[1, 2]", "text", "{conditions: text}", "{conditions: [1, {}], muster: 7}"}) {
    status_ = parse(junk);
    apply(verdict(Phase::Running));
    EXPECT_EQ(states(status_), "Created Running") << junk;
  }
}

TEST(MindSporeInvalid, MS3_AStoredBadObjectFailsForGood) {
  auto bad = job("bert").set("metadata.generation", 3).json();
  const auto error = dialect().compile(bad).error();
  const auto status = dialect().invalid_status(bad, error, kNow);
  EXPECT_EQ(states(status), "Created Finished Failed");
  EXPECT_EQ(last(status)["reason"].as_string(), "MSJobFailedValidation");
  EXPECT_NE(last(status)["message"].as_string().find("spec.msReplicaSpecs"), std::string::npos);
  EXPECT_TRUE(status["replicaStatuses"].is_object());
  const auto ledger = plan::Ledger::from_json(status["muster"]);
  EXPECT_EQ(ledger.phase, Phase::Failed);
  EXPECT_EQ(ledger.observed_generation, 3);
  EXPECT_EQ(ledger.cause->kind, CauseKind::InvalidSpec);
  // Seen again, nothing changes: no hot loop.
  bad["status"] = status;
  EXPECT_EQ(dialect().invalid_status(bad, error, kNow + 60s), status);
}

TEST_F(MindSporeStatus, AJobWithoutAPlanKeepsWhatIsShownOfItsRoles) {
  auto running = verdict(Phase::Running);
  running.counts["Worker"] = {.active = 2};
  apply(running);
  const json::Value before = status_;
  plan::Plan frozen;
  frozen.job = plan_.job;
  EXPECT_EQ(dialect().status(frozen, before, running, now_), before);
  running.waiting_for = "bert to be valid again";
  const auto after = dialect().status(frozen, before, running, now_);
  EXPECT_EQ(after["replicaStatuses"], before["replicaStatuses"]);
  EXPECT_EQ(after["muster"]["ranks"], before["muster"]["ranks"]);
  EXPECT_EQ(after["muster"]["waitingFor"].as_string(), "bert to be valid again");
}

TEST(MindSporeInvalid, MessagesAreBounded) {
  const Error error{.code = ErrorCode::Invalid, .message = std::string(100'000, 'x')};
  const auto status = dialect().invalid_status(job("bert").json(), error, kNow);
  EXPECT_LE(last(status)["message"].as_string().size(), limits::kMaxEventMessageBytes);
}

}  // namespace
}  // namespace muster::dialects::test
