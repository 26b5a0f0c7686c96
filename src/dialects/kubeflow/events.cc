#include "dialects/kubeflow/events.h"

#include <fmt/format.h>

#include "api/event.h"
#include "base/strings.h"

namespace muster::dialects::kubeflow {
namespace {

plan::EventText normal(std::string reason, std::string_view message) {
  return {.warning = false, .reason = std::move(reason), .message = api::event_message(message)};
}

plan::EventText warning(std::string reason, std::string_view message) {
  return {.warning = true, .reason = std::move(reason), .message = api::event_message(message)};
}

std::string kind_of(const plan::Note& note) {
  return note.object_kind.empty() ? "Pod" : note.object_kind;
}

plan::EventText failed_event(const Texts& texts, const plan::JobRef& job, const plan::Note& note) {
  const Text text = texts.failed(job, note.cause);
  const bool invalid = note.cause && note.cause->kind == plan::CauseKind::InvalidSpec;
  return warning(invalid ? "InvalidSpec" : text.reason, text.message);
}

}  // namespace

std::optional<plan::EventText> event_for(const Texts& texts, const plan::JobRef& job,
                                         const plan::Note& note) {
  using Kind = plan::Note::Kind;
  const std::string kind = kind_of(note);
  const auto as = [](const Text& text) { return normal(text.reason, text.message); };
  switch (note.kind) {
    case Kind::PodCreated:
    case Kind::ObjectCreated:
      return normal("SuccessfulCreate" + kind,
                    fmt::format("Created {}: {}", to_lower(kind), note.subject));
    case Kind::PodDeleted:
    case Kind::ObjectDeleted:
      return normal("SuccessfulDelete" + kind,
                    fmt::format("Deleted {}: {}", to_lower(kind), note.subject));
    case Kind::PodsCreated:
    case Kind::ObjectsCreated:
      return normal("SuccessfulCreate" + kind,
                    fmt::format("Created {} {}s", note.subject, to_lower(kind)));
    case Kind::PodsDeleted:
    case Kind::ObjectsDeleted:
      return normal("SuccessfulDelete" + kind,
                    fmt::format("Deleted {} {}s", note.subject, to_lower(kind)));
    case Kind::CreateFailed:
      return warning("FailedCreate" + kind, fmt::format("Error creating: {}", note.detail));
    case Kind::DeleteFailed:
      return warning("FailedDelete" + kind, fmt::format("Error deleting: {}", note.detail));
    case Kind::ContainerExited:
      return normal("ExitedWithCode", fmt::format("Pod: {}.{} exited with code {}", job.ns,
                                                  note.subject, note.detail));
    case Kind::ContainersExited:
      return normal("ExitedWithCode", fmt::format("{} pods exited, the first with code {}",
                                                  note.subject, note.detail));
    case Kind::Restarting: {
      const Text text = texts.restarting(job, note.cause);
      return warning(text.reason, text.message);
    }
    case Kind::Suspended:
      return as(texts.suspended(job));
    case Kind::Resumed:
      return as(texts.resumed(job));
    case Kind::Renewed:
      return as(texts.renewed(job));
    case Kind::Succeeded:
      return as(texts.succeeded(job));
    case Kind::Failed:
      return failed_event(texts, job, note);
    case Kind::JobDeleted:
      return normal("SuccessfulDeleteJob", fmt::format("Deleted job: {}", job.name));
    case Kind::Warning:
      return warning(note.reason, note.detail);
  }
  return std::nullopt;
}

}  // namespace muster::dialects::kubeflow
