#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.h"
#include "support.h"

namespace muster::dialects::test {
namespace {

using plan::Cause;
using plan::CauseKind;
using plan::Note;
using Kind = plan::Note::Kind;

struct Row {
  std::string behaviour;
  Note note;
  std::string event;  // type, reason: message
};

std::string event_line(const Note& note) {
  const plan::JobRef ref{.ns = "team", .name = "bert"};
  const auto event = dialect().event_for(ref, note);
  if (!event) return "silent";
  return (event->warning ? "Warning " : "Normal ") + event->reason + ": " + event->message;
}

TEST(MSJobEvents, EventsAreWordForWord) {
  const std::vector<Row> rows = {
      {"pod created",
       {.kind = Kind::PodCreated, .object_kind = "Pod", .subject = "bert-worker-0"},
       "Normal SuccessfulCreatePod: Created pod: bert-worker-0"},
      {"many pods created",
       {.kind = Kind::PodsCreated, .object_kind = "Pod", .subject = "1000"},
       "Normal SuccessfulCreatePod: Created 1000 pods"},
      {"pod deleted",
       {.kind = Kind::PodDeleted, .object_kind = "Pod", .subject = "bert-worker-0"},
       "Normal SuccessfulDeletePod: Deleted pod: bert-worker-0"},
      {"many pods deleted",
       {.kind = Kind::PodsDeleted, .object_kind = "Pod", .subject = "40"},
       "Normal SuccessfulDeletePod: Deleted 40 pods"},
      {"service created",
       {.kind = Kind::ObjectCreated, .object_kind = "Service", .subject = "bert-scheduler-0"},
       "Normal SuccessfulCreateService: Created service: bert-scheduler-0"},
      {"service deleted",
       {.kind = Kind::ObjectDeleted, .object_kind = "Service", .subject = "bert-scheduler-0"},
       "Normal SuccessfulDeleteService: Deleted service: bert-scheduler-0"},
      {"many services created",
       {.kind = Kind::ObjectsCreated, .object_kind = "Service", .subject = "1000"},
       "Normal SuccessfulCreateService: Created 1000 services"},
      {"many services deleted",
       {.kind = Kind::ObjectsDeleted, .object_kind = "Service", .subject = "40"},
       "Normal SuccessfulDeleteService: Deleted 40 services"},
      {"pod refused",
       {.kind = Kind::CreateFailed, .object_kind = "Pod", .subject = "x", .detail = "quota"},
       "Warning FailedCreatePod: Error creating: quota"},
      {"service refused",
       {.kind = Kind::CreateFailed, .object_kind = "Service", .subject = "x", .detail = "taken"},
       "Warning FailedCreateService: Error creating: taken"},
      {"deletion refused",
       {.kind = Kind::DeleteFailed, .object_kind = "Pod", .subject = "x", .detail = "no"},
       "Warning FailedDeletePod: Error deleting: no"},
      {"container exited",
       {.kind = Kind::ContainerExited, .subject = "bert-worker-0", .detail = "137"},
       "Normal ExitedWithCode: Pod: team.bert-worker-0 exited with code 137"},
      {"many containers exited",
       {.kind = Kind::ContainersExited, .subject = "40", .detail = "137"},
       "Normal ExitedWithCode: 40 pods exited, the first with code 137"},
      {"suspended", {.kind = Kind::Suspended}, "Normal MSJobSuspended: MSJob bert is suspended."},
      {"resumed", {.kind = Kind::Resumed}, "Normal MSJobResumed: MSJob bert is resumed."},
      {"restarting",
       {.kind = Kind::Restarting, .cause = Cause{.role = "PS"}},
       "Warning MSJobRestarting: MSJob bert is restarting because PS replica(s) failed."},
      {"succeeded",
       {.kind = Kind::Succeeded},
       "Normal MSJobSucceeded: MSJob team/bert successfully completed."},
      {"failed",
       {.kind = Kind::Failed, .cause = Cause{.role = "Worker", .failed = 2}},
       "Warning MSJobFailed: MSJob team/bert has failed because 2 Worker replica(s) failed."},
      {"too many restarts",
       {.kind = Kind::Failed, .cause = Cause{.kind = CauseKind::BackoffLimit}},
       "Warning JobFailed: Job bert has failed because it has reached the specified backoff limit"},
      {"too late",
       {.kind = Kind::Failed, .cause = Cause{.kind = CauseKind::Deadline}},
       "Warning JobFailed: Job bert has failed because it was active longer than specified "
       "deadline"},
      {"invalid",
       {.kind = Kind::Failed, .cause = Cause{.kind = CauseKind::InvalidSpec, .text = "no image"}},
       "Warning InvalidSpec: no image"},
      {"a name is taken",
       {.kind = Kind::Failed,
        .cause = Cause{.kind = CauseKind::ForeignObject, .text = "pod x is somebody else's"}},
       "Warning MSJobFailed: MSJob team/bert has failed because pod x is somebody else's"},
      {"expired", {.kind = Kind::JobDeleted}, "Normal SuccessfulDeleteJob: Deleted job: bert"},
      {"warning",
       {.kind = Kind::Warning, .reason = "UnknownField", .detail = "spec.x"},
       "Warning UnknownField: spec.x"},
  };
  for (const auto& row : rows) EXPECT_EQ(event_line(row.note), row.event) << row.behaviour;
}

TEST(MSJobEvents, WhatOthersWroteIsBoundedAndPrintable) {
  const std::string text = "\x1b[31mred\n" + std::string(5000, 'x');
  const auto event =
      dialect().event_for({}, {.kind = Kind::CreateFailed, .object_kind = "Pod", .detail = text});
  ASSERT_TRUE(event.has_value());
  EXPECT_LE(event->message.size(), limits::kMaxEventMessageBytes);
  EXPECT_EQ(event->message.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace muster::dialects::test
