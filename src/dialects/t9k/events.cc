#include "dialects/t9k/events.h"

#include <fmt/format.h>

#include "api/event.h"
#include "dialects/t9k/conditions.h"

namespace muster::dialects::t9k {
namespace {

constexpr std::string_view kCreated = "Created";

plan::EventText normal(std::string reason, std::string_view message) {
  return {.warning = false, .reason = std::move(reason), .message = api::event_message(message)};
}

plan::EventText warning(std::string reason, std::string_view message) {
  return {.warning = true, .reason = std::move(reason), .message = api::event_message(message)};
}

plan::EventText failed(const plan::Note& note) {
  const Text text = failure_text({.phase = plan::Phase::Failed, .cause = note.cause});
  return warning(text.reason, text.message);
}

}  // namespace

plan::Warning created(const plan::JobRef& job) {
  return {.reason = std::string(kCreated),
          .message = fmt::format("A {} has been created: {}", job.resource.kind, job.name)};
}

std::optional<plan::EventText> event_for(const plan::JobRef& job, const plan::Note& note) {
  using Kind = plan::Note::Kind;
  switch (note.kind) {
    case Kind::PodCreated:
      return normal("PodCreated", fmt::format("Created pod: {}", note.subject));
    case Kind::PodsCreated:
      return normal("PodCreated", fmt::format("Created {} pods", note.subject));
    case Kind::PodDeleted:
      return normal("PodDeleted", fmt::format("Deleted pod: {}", note.subject));
    case Kind::PodsDeleted:
      return normal("PodDeleted", fmt::format("Deleted {} pods", note.subject));
    case Kind::CreateFailed:
      return warning("FailedCreate", fmt::format("Error creating {} {}: {}", note.object_kind,
                                                 note.subject, note.detail));
    case Kind::DeleteFailed:
      return warning("FailedDelete", fmt::format("Error deleting {} {}: {}", note.object_kind,
                                                 note.subject, note.detail));
    case Kind::ContainerExited:
      if (note.detail == "0") return std::nullopt;
      return warning("ErrorInPod",
                     fmt::format("Pod[{}] exited with error code {}", note.subject, note.detail));
    case Kind::ContainersExited:
      return warning("ErrorInPod", fmt::format("{} pods exited, the first with error code {}",
                                               note.subject, note.detail));
    case Kind::Restarting:
      // Of one that exited, ErrorInPod said it.
      if (!note.cause || note.cause->exit_code) return std::nullopt;
      return warning("ErrorInPod", pod_failure(*note.cause));
    case Kind::Suspended:
      return normal("Paused", "The job is paused.");
    case Kind::Resumed:
      return normal("Resumed", "The job goes on after a pause, from the beginning.");
    case Kind::Renewed:
      return normal("Restarted",
                    fmt::format("All pods of {} are made anew: {}", job.name, note.detail));
    case Kind::Succeeded:
      return normal("Completed", "The job has finished successfully.");
    case Kind::Failed:
      return failed(note);
    case Kind::Warning:
      if (note.reason == kCreated) return normal(note.reason, note.detail);
      return warning(note.reason, note.detail);
    case Kind::ObjectCreated:
    case Kind::ObjectsCreated:
    case Kind::ObjectDeleted:
    case Kind::ObjectsDeleted:
    case Kind::JobDeleted:
      break;
  }
  return std::nullopt;
}

}  // namespace muster::dialects::t9k
