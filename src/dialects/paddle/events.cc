#include "dialects/paddle/events.h"

#include <fmt/format.h>

#include "api/event.h"

namespace muster::dialects::paddle {
namespace {

plan::EventText event(bool warning, std::string reason, std::string_view message) {
  return {.warning = warning, .reason = std::move(reason), .message = api::event_message(message)};
}

plan::EventText normal(std::string reason, std::string_view message) {
  return event(false, std::move(reason), message);
}

plan::EventText warning(std::string reason, std::string_view message) {
  return event(true, std::move(reason), message);
}

// "pod wnd-ps-0 exited with code 3", "pod wnd-ps-0: Evicted", or what else is known.
std::string why(const std::optional<plan::Cause>& cause) {
  if (!cause) return "for an unknown reason";
  if (cause->pod.empty()) return cause->text;
  if (cause->exit_code) {
    return fmt::format("pod {} exited with code {}", cause->pod, *cause->exit_code);
  }
  return fmt::format("pod {}: {}", cause->pod, cause->reason.empty() ? "Failed" : cause->reason);
}

plan::EventText failed(const plan::JobRef& job, const plan::Note& note) {
  if (note.cause && note.cause->kind == plan::CauseKind::InvalidSpec) {
    return warning("InvalidSpec", note.cause->text);
  }
  return warning("Failed",
                 fmt::format("PaddleJob {}/{} failed: {}", job.ns, job.name, why(note.cause)));
}

}  // namespace

std::optional<plan::EventText> event_for(const plan::JobRef& job, const plan::Note& note) {
  using Kind = plan::Note::Kind;
  switch (note.kind) {
    case Kind::PodCreated:
    case Kind::ObjectCreated:
      return normal("Created", fmt::format("created {} {}", note.object_kind, note.subject));
    case Kind::PodDeleted:
    case Kind::ObjectDeleted:
      return normal("Deleted", fmt::format("deleted {} {}", note.object_kind, note.subject));
    case Kind::PodsCreated:
    case Kind::ObjectsCreated:
      return normal("Created", fmt::format("created {} {}s", note.subject, note.object_kind));
    case Kind::PodsDeleted:
    case Kind::ObjectsDeleted:
      return normal("Deleted", fmt::format("deleted {} {}s", note.subject, note.object_kind));
    case Kind::CreateFailed:
      return warning("Create", fmt::format("create failed {} {}: {}", note.object_kind,
                                           note.subject, note.detail));
    case Kind::DeleteFailed:
      return warning("Delete", fmt::format("delete failed {} {}: {}", note.object_kind,
                                           note.subject, note.detail));
    case Kind::ContainerExited:
      return normal("Exited", fmt::format("pod {} exited with code {}", note.subject, note.detail));
    case Kind::ContainersExited:
      return normal("Exited", fmt::format("{} pods exited, the first with code {}", note.subject,
                                          note.detail));
    case Kind::Restarting:
      return warning("Restarting", fmt::format("PaddleJob {}/{} replaces a pod: {}", job.ns,
                                               job.name, why(note.cause)));
    case Kind::Renewed:
      return normal("Restarted",
                    fmt::format("PaddleJob {}/{} begins again with {}: every pod knows all the "
                                "others, so all of them are made anew",
                                job.ns, job.name, note.detail));
    case Kind::Succeeded:
      return normal("Completed", fmt::format("PaddleJob {}/{} completed", job.ns, job.name));
    case Kind::Failed:
      return failed(job, note);
    case Kind::Warning:
      return warning(note.reason, note.detail);
    case Kind::Suspended:
      return normal("Suspended", fmt::format("PaddleJob {}/{} is suspended", job.ns, job.name));
    case Kind::Resumed:
      return normal("Resumed", fmt::format("PaddleJob {}/{} goes on", job.ns, job.name));
    case Kind::JobDeleted:
      break;  // this kind never deletes itself
  }
  return std::nullopt;
}

}  // namespace muster::dialects::paddle
