#include "cli/run/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bare_context.h"
#include "json/read.h"

namespace muster::cli {
namespace {

using plan::Cause;
using plan::CauseKind;
using ::testing::HasSubstr;
using ::testing::Not;

JobView failed(std::optional<Cause> cause) {
  JobView view{.phase = plan::Phase::Failed,
               .ranks = 4,
               .reason = "ToyFailed",
               .message = "Toy bert is failed because 1 rank failed."};
  view.ledger.cause = std::move(cause);
  return view;
}

const Cause kWorker{.role = "Worker", .index = 3, .pod = "bert-worker-3", .exit_code = 1};

std::string block(const JobView& view, const FailureNotes& notes = {}) {
  BareContext bare;
  bare.context.where = " -n ml";
  return root_cause(bare.context, view, "bert", notes);
}

TEST(Failure, TheBlockHasAllThatIsNeededNext) {
  const FailureNotes notes{.last_lines = {"Traceback", "RuntimeError: \x1b[31msize\x1b[0m"},
                           .stopped = "Worker 0-2, PS 0",
                           .again = "muster -n ml run job.yaml"};
  EXPECT_EQ(block(failed(kWorker), notes),
            "  root cause  Worker 3 · pod bert-worker-3 · exit 1\n"
            "              Traceback\n"
            "              RuntimeError: size\n"
            "  stopped     Worker 0-2, PS 0, because of it\n"
            "  condition   ToyFailed: Toy bert is failed because 1 rank failed.\n"
            "  logs        muster -n ml logs bert --role Worker --rank 3\n"
            "  again       muster -n ml run job.yaml\n");
}

TEST(Failure, OfAPodByItself) {
  EXPECT_THAT(block(failed(Cause{.pod = "solo", .exit_code = 3})),
              HasSubstr("\n  logs        muster -n ml logs pods/solo\n"));
}

TEST(Failure, IsSilentAboutSuccess) {
  EXPECT_EQ(block({.phase = plan::Phase::Succeeded}), "");
}

TEST(Failure, WithoutACauseTheConditionIsAllThereIs) {
  EXPECT_EQ(block(failed({})), "  root cause  Toy bert is failed because 1 rank failed.\n");
  EXPECT_EQ(failure_sentence(failed({})), "Toy bert is failed because 1 rank failed.");
}

struct Ending {
  Cause cause;
  std::string sentence;
};

class Sentences : public ::testing::TestWithParam<Ending> {};

TEST_P(Sentences, SayWhatHappened) {
  EXPECT_EQ(failure_sentence(failed(GetParam().cause)), GetParam().sentence);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Sentences,
    ::testing::Values(
        Ending{kWorker, "Worker 3: exit 1"},
        Ending{{.role = "Worker", .index = 3, .pod = "p", .exit_code = 139},
               "Worker 3: killed by signal 11 (SIGSEGV)"},
        Ending{{.role = "PS", .index = 0, .pod = "p", .exit_code = 137, .reason = "OOMKilled"},
               "PS 0: out of memory (OOMKilled, exit 137)"},
        Ending{{.role = "PS", .index = 0, .pod = "p", .exit_code = 127},
               "PS 0: exit 127: command not found"},
        Ending{{.pod = "probe", .exit_code = 7}, "pod probe: exit 7"},
        Ending{{.pod = "probe", .reason = "Evicted"}, "pod probe: Evicted"},
        Ending{{.kind = CauseKind::BackoffLimit,
                .role = "Worker",
                .index = 0,
                .pod = "p",
                .exit_code = 5},
               "Worker 0 failed once more than backoffLimit allows: exit 5"},
        Ending{{.kind = CauseKind::Rejected, .text = "quota exceeded"}, "quota exceeded"}));

TEST(Failure, ADeadlineSaysWhichFieldAndHowLong) {
  const auto job = *json::read(R"({"spec":{
      "workers":{"template":{"spec":{"activeDeadlineSeconds":7}}},
      "runPolicy":{"backoffLimit":1,"activeDeadlineSeconds":30}}})");
  EXPECT_EQ(deadline_of(job), "spec.runPolicy.activeDeadlineSeconds: 30")
      << "that of a template is another one";
  EXPECT_EQ(deadline_of(*json::read(R"({"spec":{"activeDeadlineSeconds":5}})")),
            "spec.activeDeadlineSeconds: 5");
  EXPECT_EQ(deadline_of(*json::read(R"({"spec":{"containers":[]}})")), "");
  const JobView late = failed(Cause{.kind = CauseKind::Deadline});
  const FailureNotes notes{.deadline = deadline_of(job)};
  EXPECT_EQ(failure_sentence(late, notes), "it ran into spec.runPolicy.activeDeadlineSeconds: 30");
  EXPECT_THAT(block(late, notes),
              HasSubstr("deadline    spec.runPolicy.activeDeadlineSeconds: 30"));
  EXPECT_THAT(block(late, notes), Not(HasSubstr("logs")));
}

}  // namespace
}  // namespace muster::cli
