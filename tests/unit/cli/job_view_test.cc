#include "cli/jobs/job_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialects/registry.h"

namespace muster::cli {
namespace {

using plan::Cause;
using plan::CauseKind;
using ::testing::HasSubstr;

json::Value job_with(const std::string& state, std::optional<Cause> cause) {
  plan::Ledger ledger;
  ledger.phase = state == "Succeeded" ? plan::Phase::Succeeded : plan::Phase::Failed;
  ledger.cause = std::move(cause);
  return json::Object{
      {"apiVersion", "mindspore.gitee.com/v1"},
      {"kind", "MSJob"},
      {"metadata", json::Object{{"name", "bert"}, {"namespace", "ml"}}},
      {"status", json::Object{{"conditions",
                               json::Array{json::Object{
                                   {"type", state}, {"status", "True"}, {"message", "it ended"}}}},
                              {"muster", ledger.to_json()}}}};
}

JobView view_of(const std::string& state, std::optional<Cause> cause = {}) {
  const auto registry = dialects::make_registry();
  return JobView::from(job_with(state, std::move(cause)), *registry.all().front());
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
        ExitCase{"success", "Succeeded", {}, 0},
        ExitCase{"the first failing rank's own code", "Failed",
                 Cause{.pod = "bert-worker-3", .exit_code = 3}, 3},
        ExitCase{"killed", "Failed", Cause{.pod = "bert-worker-3", .exit_code = 137}, 137},
        ExitCase{"command not found", "Failed", Cause{.pod = "bert-worker-3", .exit_code = 127},
                 127},
        ExitCase{"a pod that says no code", "Failed",
                 Cause{.pod = "bert-worker-3", .reason = "Evicted"}, 1},
        ExitCase{"restarted too often", "Failed",
                 Cause{.kind = CauseKind::BackoffLimit, .pod = "bert-worker-0", .exit_code = 5}, 5},
        ExitCase{"too long", "Failed", Cause{.kind = CauseKind::Deadline}, 124},
        ExitCase{"a name that is somebody else's", "Failed",
                 Cause{.kind = CauseKind::ForeignObject}, 125},
        ExitCase{"refused by the server", "Failed", Cause{.kind = CauseKind::Rejected}, 125},
        ExitCase{"invalid", "Failed", Cause{.kind = CauseKind::InvalidSpec}, 125}));

TEST(RootCause, NamesTheRankTheSignalAndTheNextCommand) {
  const std::string text = root_cause(
      view_of("Failed",
              Cause{.role = "Worker", .index = 3, .pod = "bert-worker-3", .exit_code = 139}),
      "bert");
  EXPECT_THAT(text, HasSubstr("Worker 3"));
  EXPECT_THAT(text, HasSubstr("bert-worker-3"));
  EXPECT_THAT(text, HasSubstr("signal 11 (SIGSEGV)"));
  EXPECT_THAT(text, HasSubstr("muster logs bert --role Worker --rank 3"));
}

TEST(RootCause, IsSilentAboutSuccess) {
  EXPECT_EQ(root_cause(view_of("Succeeded"), "bert"), "");
}

TEST(RootCause, OutOfMemoryIsSaidInWords) {
  const Cause cause{
      .role = "Worker", .index = 0, .pod = "p", .exit_code = 137, .reason = "OOMKilled"};
  EXPECT_THAT(root_cause(view_of("Failed", cause), "bert"), HasSubstr("out of memory"));
}

}  // namespace
}  // namespace muster::cli
