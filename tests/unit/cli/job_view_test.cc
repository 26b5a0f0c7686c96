#include "cli/jobs/job_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/read.h"
#include "toy_kind.h"

namespace muster::cli {
namespace {

using plan::Cause;
using plan::CauseKind;

JobView view_of(const std::string& state, std::optional<Cause> cause = {}) {
  const ToyKind kind("Toy", "toy.dev");
  plan::Ledger ledger;
  ledger.cause = std::move(cause);
  json::Value job = kind.job("bert");
  job["status"] = json::Object{
      {"state", state}, {"remark", "it ended"}, {std::string(plan::kStatusKey), ledger.to_json()}};
  return JobView::from(job, kind);
}

TEST(JobView, SaysWhatTheDialectReads) {
  const ToyKind kind("Toy", "toy.dev");
  const std::map<std::string, std::string> words = {{"", "Pending"},       {"GOING", "Running"},
                                                    {"HELD", "Suspended"}, {"DONE", "Succeeded"},
                                                    {"BROKEN", "Failed"},  {"?", "Pending"}};
  for (const auto& [state, word] : words) {
    const JobView view = view_of(state);
    EXPECT_EQ(view.state(), word);
    EXPECT_EQ(view.finished(), state == "DONE" || state == "BROKEN") << state;
    EXPECT_EQ(view.reason, "Toy" + state);
    EXPECT_EQ(view.message, "it ended");
  }
}

// A kind's own words mean nothing to us: this status says in Kubeflow's words what it is not.
TEST(JobView, ReadsNoStatusByItself) {
  const ToyKind kind("Toy", "toy.dev");
  json::Value job = kind.job("bert");
  job["status"] = json::Object{
      {"state", "GOING"},
      {"conditions", json::Array{json::Object{{"type", "Failed"}, {"status", "True"}}}},
      {"replicaStatuses", json::Object{{"Rank", json::Object{{"active", 3}, {"failed", 9}}}}}};
  const JobView view = JobView::from(job, kind);
  EXPECT_EQ(view.state(), "Running");
  EXPECT_EQ(view.ranks_ready, 0);
}

TEST(JobView, RanksAndRestartsAreThoseOfMuster) {
  const ToyKind kind("Toy", "toy.dev");
  json::Value job = kind.job("bert");
  EXPECT_EQ(JobView::from(job, kind).ranks, 4) << "of the spec, before anybody looked";
  plan::Ledger ledger;
  ledger.roles["Rank"].restarts = 5;
  ledger.roles["Other"].restarts = 2;
  job["status"][plan::kStatusKey] = ledger.to_json();
  job["status"][plan::kStatusKey]["ranks"] = "2/3";
  const JobView view = JobView::from(job, kind);
  EXPECT_EQ(view.ranks_ready, 2);
  EXPECT_EQ(view.ranks, 3);
  EXPECT_EQ(view.restarts, 7);
}

struct ExitCase {
  std::string name;
  std::string state;
  std::optional<Cause> cause;
  int expected;
};

class ExitCodes : public ::testing::TestWithParam<ExitCase> {};

TEST_P(ExitCodes, TellWhatBecameOfTheJob) {
  EXPECT_EQ(exit_code_for(view_of(GetParam().state, GetParam().cause)), GetParam().expected)
      << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(
    Table, ExitCodes,
    ::testing::Values(
        ExitCase{"success", "DONE", {}, 0},
        ExitCase{"the first failing rank's own code", "BROKEN",
                 Cause{.pod = "bert-worker-3", .exit_code = 3}, 3},
        ExitCase{"killed", "BROKEN", Cause{.pod = "bert-worker-3", .exit_code = 137}, 137},
        ExitCase{"command not found", "BROKEN", Cause{.pod = "bert-worker-3", .exit_code = 127},
                 127},
        ExitCase{"a pod that says no code", "BROKEN",
                 Cause{.pod = "bert-worker-3", .reason = "Evicted"}, 1},
        ExitCase{"a pod that was evicted and ended well", "BROKEN",
                 Cause{.pod = "bert-worker-3", .exit_code = 0, .reason = "Evicted"}, 1},
        ExitCase{"restarted too often", "BROKEN",
                 Cause{.kind = CauseKind::BackoffLimit, .pod = "bert-worker-0", .exit_code = 5}, 5},
        ExitCase{"too long", "BROKEN", Cause{.kind = CauseKind::Deadline}, 124},
        ExitCase{"a name that is somebody else's", "BROKEN",
                 Cause{.kind = CauseKind::ForeignObject}, 125},
        ExitCase{"refused by the server", "BROKEN", Cause{.kind = CauseKind::Rejected}, 125},
        ExitCase{"invalid", "BROKEN", Cause{.kind = CauseKind::InvalidSpec}, 125}));

cluster::ObjectPtr pod(const std::string& status) {
  return std::make_shared<const json::Value>(*json::read(R"({"status":)" + status + "}"));
}

const char* const kRunning = R"({"phase":"Running","containerStatuses":[{"name":"c",
    "state":{"running":{}}}]})";
const char* const kCrashed = R"({"phase":"Running","containerStatuses":[{"name":"c",
    "restartCount":3,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]})";

// The status that somebody wrote a while ago says 0/4.
TEST(JobView, RanksAreThoseOfTheMoment) {
  JobView view = view_of("");
  view.see({pod(kRunning), pod(kRunning), pod(kRunning), pod(R"({"phase":"Pending"})")});
  EXPECT_EQ(view.ranks_ready, 3);
  EXPECT_EQ(view.state(), "Pending");
  view.see({pod(kRunning), pod(kRunning), pod(kRunning), pod(R"({"phase":"Succeeded"})")});
  EXPECT_EQ(view.ranks_ready, 4);
  EXPECT_EQ(view.state(), "Running");
}

TEST(JobView, NobodyRunsBetweenTwoCrashes) {
  JobView view = view_of("GOING");
  view.see({pod(kRunning), pod(kCrashed)});
  EXPECT_EQ(view.state(), "CrashLoopBackOff");
  EXPECT_EQ(view.ranks_ready, 1);
  EXPECT_EQ(view.restarts, 3);
}

TEST(JobView, WhatHasEndedIsAsItsStatusSays) {
  JobView view = view_of("DONE");
  view.see({pod(kCrashed)});
  EXPECT_EQ(view.state(), "Succeeded");
}

}  // namespace
}  // namespace muster::cli
