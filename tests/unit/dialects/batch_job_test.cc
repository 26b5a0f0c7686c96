// batch/v1 Job: what the server fills in, what may be edited, and the status in Kubernetes' words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/object.h"
#include "dialects/batch/status.h"
#include "support.h"

namespace muster::dialects::test {
namespace {

using plan::Phase;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Time kNow = Time(std::chrono::seconds(1'800'000'000));
constexpr std::string_view kUid = "0b2f6a1c-0001";

json::Value plain_job() {
  return parse(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: work, namespace: default, uid: 0b2f6a1c-0001, generation: 1}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: "example.org/work:1"}
)");
}

json::Value with(std::string_view path, json::Value value) {
  json::Value job = plain_job();
  job.make_path(path) = std::move(value);
  return job;
}

json::Value defaulted(json::Value job) {
  dialect_of(job).set_defaults(job);
  return job;
}

std::vector<std::string> fields(const std::vector<FieldCause>& causes) {
  std::vector<std::string> all;
  for (const FieldCause& cause : causes) all.push_back(cause.field);
  return all;
}

TEST(BatchJobDefaults, AreThoseOfKubernetes) {
  const json::Value job = defaulted(plain_job());
  const json::Value& spec = job["spec"];
  EXPECT_EQ(spec["parallelism"].as_int(), 1);
  EXPECT_EQ(spec["completions"].as_int(), 1);
  EXPECT_EQ(spec["completionMode"], "NonIndexed");
  EXPECT_EQ(spec["backoffLimit"].as_int(), 6);
  EXPECT_EQ(spec["suspend"], false);
  EXPECT_EQ(spec["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"], kUid);
  const json::Value& labels = spec["template"]["metadata"]["labels"];
  EXPECT_EQ(labels["batch.kubernetes.io/controller-uid"], kUid);
  EXPECT_EQ(labels["controller-uid"], kUid);
  EXPECT_EQ(labels["batch.kubernetes.io/job-name"], "work");
  EXPECT_EQ(labels["job-name"], "work");
  EXPECT_THAT(dialect_of(job).validate(job), IsEmpty()) << "what the server wrote is valid";
  EXPECT_EQ(defaulted(job), job) << "a second time changes nothing";
}

TEST(BatchJobDefaults, LeaveWhatTheUserSaid) {
  EXPECT_TRUE(defaulted(with("spec.parallelism", 3))["spec"]["completions"].is_null());
  EXPECT_EQ(defaulted(with("spec.completions", 3))["spec"]["parallelism"].as_int(), 1);
  EXPECT_EQ(defaulted(with("spec.backoffLimit", 0))["spec"]["backoffLimit"].as_int(), 0);
  EXPECT_EQ(defaulted(with("spec.suspend", true))["spec"]["suspend"], true);
}

TEST(BatchJobDefaults, ABrokenJobIsLeftToValidation) {
  for (const char* path : {"spec", "spec.template", "spec.template.metadata"}) {
    const json::Value job = with(path, "text");
    EXPECT_EQ(defaulted(job).at_path(path), "text");
  }
}

struct Edit {
  std::string name;
  json::Value before;
  std::string path;
  json::Value value;
  std::vector<std::string> refused;
};

TEST(BatchJobEdits, WhatMayChange) {
  json::Value indexed = with("spec.completionMode", "Indexed");
  indexed["spec"]["completions"] = 3;
  indexed["spec"]["parallelism"] = 2;
  const std::vector<Edit> edits = {
      {"parallelism", plain_job(), "spec.parallelism", 4, {}},
      {"suspension", plain_job(), "spec.suspend", true, {}},
      {"the limit", plain_job(), "spec.backoffLimit", 1, {}},
      {"completions", plain_job(), "spec.completions", 4, {"spec.completions"}},
      {"completions of indexes, alone", indexed, "spec.completions", 5, {"spec.completions"}},
      {"completions of indexes, as many as at once", indexed, "spec.completions", 2, {}},
      {"mode", plain_job(), "spec.completionMode", "Other", {"spec.completionMode"}},
      {"who runs it", plain_job(), "spec.managedBy", "example.org/x", {"spec.managedBy"}},
      {"pods", plain_job(), "spec.template.spec.hostNetwork", true, {"spec.template"}},
  };
  for (const Edit& edit : edits) {
    SCOPED_TRACE(edit.name);
    const json::Value old = defaulted(edit.before);
    json::Value job = old;
    job.make_path(edit.path) = edit.value;
    EXPECT_EQ(fields(dialect_of(job).validate_update(old, job)), edit.refused);
  }
}

TEST(BatchJob, TheNameOfAnIndexedJobLeavesRoomForTheIndex) {
  json::Value job = with("spec.completionMode", "Indexed");
  job["spec"]["completions"] = 1000;
  job["metadata"]["name"] = std::string(59, 'a');
  EXPECT_THAT(dialect_of(job).validate(job), IsEmpty());
  job["metadata"]["name"] = std::string(60, 'a');
  EXPECT_THAT(fields(dialect_of(job).validate(job)), ElementsAre("metadata.name"));
  job["metadata"]["name"] = std::string(59, 'a');
  const auto plan = dialect_of(job).compile(job);
  EXPECT_LE(plan->roles[0].pod_name.name(999, 0).size(), 63U);
}

TEST(BatchJob, SomebodyElsesIsLeftAlone) {
  EXPECT_TRUE(dialect_of(plain_job()).manages(plain_job()));
  EXPECT_TRUE(
      dialect_of(plain_job()).manages(with("spec.managedBy", "kubernetes.io/job-controller")));
  EXPECT_FALSE(dialect_of(plain_job()).manages(with("spec.managedBy", "example.org/other")));
}

TEST(BatchJob, IsOnlyOurBusinessWhereWeAreTheCluster) {
  EXPECT_TRUE(dialect_of(plain_job()).identity().embedded_only);
}

// --- status

plan::Verdict verdict(Phase phase, plan::RoleCount count = {}) {
  plan::Verdict out;
  out.phase = out.ledger.phase = phase;
  out.counts["Pod"] = count;
  out.ledger.start_time = kNow;
  if (is_terminal(phase)) out.ledger.completion_time = kNow;
  return out;
}

json::Value status_of(const plan::Verdict& verdict, const json::Value& stored = {}) {
  const json::Value job = plain_job();
  return dialect_of(job).status(*dialect_of(job).compile(job), stored, verdict, kNow);
}

std::vector<std::string> conditions(const json::Value& status) {
  std::vector<std::string> all;
  for (const json::Value& one : status["conditions"].as_array()) {
    all.push_back(one["type"].as_string() + "=" + one["status"].as_string() + " " +
                  one["reason"].as_string());
  }
  return all;
}

TEST(BatchJobStatus, CountsAreThoseOfThePods) {
  const json::Value status = status_of(verdict(
      Phase::Running, {.succeeded = 2, .failed = 1, .living = 3, .ready = 1, .leaving = 4}));
  EXPECT_EQ(status["active"].as_int(), 3);
  EXPECT_EQ(status["ready"].as_int(), 1);
  EXPECT_EQ(status["terminating"].as_int(), 4);
  EXPECT_EQ(status["succeeded"].as_int(), 2);
  EXPECT_EQ(status["failed"].as_int(), 1);
  EXPECT_THAT(conditions(status), IsEmpty());
  EXPECT_TRUE(status_of(verdict(Phase::Created))["failed"].is_null()) << "0 is left out";
}

TEST(BatchJobStatus, TheEndIsAnnouncedUntilTheLastPodIsGone) {
  const json::Value announced = status_of(verdict(Phase::Succeeded, {.leaving = 1}));
  EXPECT_THAT(conditions(announced), ElementsAre("SuccessCriteriaMet=True CompletionsReached"));
  EXPECT_TRUE(announced["completionTime"].is_null());
  EXPECT_EQ(batch::phase_of(announced).phase, Phase::Created);
  const json::Value over = status_of(verdict(Phase::Succeeded), announced);
  EXPECT_THAT(conditions(over), ElementsAre("SuccessCriteriaMet=True CompletionsReached",
                                            "Complete=True CompletionsReached"));
  EXPECT_EQ(over["completionTime"], format_time(kNow));
  EXPECT_EQ(batch::phase_of(over).phase, Phase::Succeeded);
}

struct FailureCase {
  plan::CauseKind cause;
  std::string reason;
};

TEST(BatchJobStatus, FailuresHaveReasons) {
  const std::vector<FailureCase> cases = {
      {plan::CauseKind::BackoffLimit, "BackoffLimitExceeded"},
      {plan::CauseKind::Deadline, "DeadlineExceeded"},
      {plan::CauseKind::InvalidSpec, "InvalidSpec"},
      {plan::CauseKind::Rejected, "FailedCreate"},
  };
  for (const FailureCase& c : cases) {
    plan::Verdict failed = verdict(Phase::Failed);
    failed.cause = plan::Cause{.kind = c.cause, .text = "why"};
    const json::Value status = status_of(failed);
    EXPECT_THAT(conditions(status),
                ElementsAre("FailureTarget=True " + c.reason, "Failed=True " + c.reason));
    EXPECT_TRUE(status["completionTime"].is_null()) << "only a Job that is complete has it";
    const auto event = batch::event_for({.kind = plan::Note::Kind::Failed, .cause = failed.cause});
    EXPECT_EQ(event->reason, c.reason);
    EXPECT_TRUE(event->warning);
  }
}

TEST(BatchJobStatus, ASuspendedJobHasNoStart) {
  const json::Value held = status_of(verdict(Phase::Suspended), status_of(verdict(Phase::Running)));
  EXPECT_THAT(conditions(held), ElementsAre("Suspended=True JobSuspended"));
  EXPECT_TRUE(held["startTime"].is_null());
  EXPECT_EQ(batch::phase_of(held).phase, Phase::Suspended);
  const json::Value resumed = status_of(verdict(Phase::Created), held);
  EXPECT_THAT(conditions(resumed), ElementsAre("Suspended=False JobResumed"));
  EXPECT_EQ(resumed["startTime"], format_time(kNow));
}

TEST(BatchJobStatus, IndexesAreWrittenAsKubernetesDoes) {
  const auto text = [](std::string_view indexes, int below) {
    return batch::index_text(plan::IndexSet::parse(indexes), below);
  };
  EXPECT_EQ(text("", 9), "");
  EXPECT_EQ(text("0", 9), "0");
  EXPECT_EQ(text("0-1", 9), "0,1");
  EXPECT_EQ(text("0-2", 9), "0-2");
  EXPECT_EQ(text("0,2-3,5-8", 9), "0,2,3,5-8");
  EXPECT_EQ(text("0-8", 3), "0-2") << "what the Job no longer has does not count";
}

struct CellCase {
  std::string spec;
  std::string status;
  std::string completions;
  std::string state;
  std::string duration;
};

TEST(BatchJobColumns, AreWhatKubectlPrints) {
  const std::vector<CellCase> cases = {
      {"{completions: 3}", "{succeeded: 1, startTime: 2027-01-15T07:59:00Z}", "1/3", "Running",
       "60s"},
      {"{parallelism: 1}", "{}", "0/1", "Running", ""},
      {"{parallelism: 4}", "{succeeded: 2}", "2/1 of 4", "Running", ""},
      {"{completions: 1}",
       "{startTime: 2027-01-15T07:00:00Z, completionTime: 2027-01-15T07:00:05Z, conditions: "
       "[{type: Complete, status: 'True'}]}",
       "0/1", "Complete", "5s"},
      {"{completions: 1}", "{conditions: [{type: Suspended, status: 'True'}]}", "0/1", "Suspended",
       ""},
      {"{completions: 1}", "{conditions: [{type: FailureTarget, status: 'True'}]}", "0/1",
       "FailureTarget", ""},
  };
  for (const CellCase& c : cases) {
    SCOPED_TRACE(c.spec + " " + c.status);
    json::Value job = plain_job();
    job["spec"] = parse(c.spec);
    job["status"] = parse(c.status);
    EXPECT_EQ(batch::cell(job, "Completions", kNow), c.completions);
    EXPECT_EQ(batch::cell(job, "Status", kNow), c.state);
    EXPECT_EQ(batch::cell(job, "Duration", kNow), c.duration);
  }
}

}  // namespace
}  // namespace muster::dialects::test
