#include "dialects/mindspore_words.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/strings.h"

namespace muster::dialects::mindspore {
namespace {

using plan::CauseKind;

// What others wrote ends up on terminals and in etcd: printable, and no longer than an event may
// be.
std::string bounded(std::string_view text) {
  std::string out = printable(text);
  if (out.size() <= limits::kMaxEventMessageBytes) return out;
  constexpr std::string_view kCut = "…";
  std::size_t end = limits::kMaxEventMessageBytes - kCut.size();
  while (end > 0 && (static_cast<unsigned char>(out[end]) & 0xC0U) == 0x80U) --end;
  out.resize(end);
  return out.append(kCut);
}

plan::EventText normal(std::string reason, std::string_view message) {
  return {.warning = false, .reason = std::move(reason), .message = bounded(message)};
}

plan::EventText warning(std::string reason, std::string_view message) {
  return {.warning = true, .reason = std::move(reason), .message = bounded(message)};
}

std::string kind_of(const plan::Note& note) {
  return note.object_kind.empty() ? "Pod" : note.object_kind;
}

plan::EventText failed_event(const plan::JobRef& job, const plan::Note& note) {
  const auto words = failed_words(job, note.cause);
  if (note.cause && note.cause->kind == CauseKind::InvalidSpec) {
    return warning("InvalidSpec", words.message);
  }
  return normal(words.reason, words.message);
}

}  // namespace

Words created_words(const plan::JobRef& job) {
  return {"MSJobCreated", fmt::format("MSJob {} is created.", job.name)};
}

Words running_words(const plan::JobRef& job) {
  return {"MSJobRunning", fmt::format("MSJob {}/{} is running.", job.ns, job.name)};
}

Words restarting_words(const plan::JobRef& job, const std::optional<plan::Cause>& cause) {
  const std::string role = cause && !cause->role.empty() ? cause->role : "Worker";
  return {"MSJobRestarting",
          fmt::format("MSJob {} is restarting because {} replica(s) failed.", job.name, role)};
}

Words succeeded_words(const plan::JobRef& job) {
  return {"MSJobSucceeded", fmt::format("MSJob {}/{} successfully completed.", job.ns, job.name)};
}

Words failed_words(const plan::JobRef& job, const std::optional<plan::Cause>& cause) {
  const plan::Cause known = cause.value_or(plan::Cause{});
  switch (known.kind) {
    case CauseKind::BackoffLimit:
      return {"JobFailed",
              fmt::format("Job {} has failed because it has reached the specified backoff limit",
                          job.name)};
    case CauseKind::Deadline:
      return {"JobFailed",
              fmt::format("Job {} has failed because it was active longer than specified deadline",
                          job.name)};
    case CauseKind::InvalidSpec:
      return {"MSJobFailedValidation", bounded(known.text)};
    case CauseKind::PodFailed:
      if (!known.role.empty()) {
        return {"MSJobFailed",
                fmt::format("MSJob {}/{} has failed because {} {} replica(s) failed.", job.ns,
                            job.name, std::max(1, known.failed), known.role)};
      }
      break;
    case CauseKind::ForeignObject:
    case CauseKind::Rejected:
      break;
  }
  const auto why = known.text.empty() ? std::string() : fmt::format(" because {}", known.text);
  return {"MSJobFailed", bounded(fmt::format("MSJob {}/{} has failed{}", job.ns, job.name, why))};
}

std::optional<plan::EventText> event_words(const plan::JobRef& job, const plan::Note& note) {
  using Kind = plan::Note::Kind;
  const std::string kind = kind_of(note);
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
      return normal("SuccessfulCreatePod", fmt::format("Created {} pods", note.subject));
    case Kind::PodsDeleted:
      return normal("SuccessfulDeletePod", fmt::format("Deleted {} pods", note.subject));
    case Kind::CreateFailed:
      return warning("FailedCreate" + kind, fmt::format("Error creating: {}", note.detail));
    case Kind::DeleteFailed:
      return warning("FailedDelete" + kind, fmt::format("Error deleting: {}", note.detail));
    case Kind::ContainerExited:
      return normal("ExitedWithCode", fmt::format("Pod: {}.{} exited with code {}", job.ns,
                                                  note.subject, note.detail));
    case Kind::Restarting:
      return warning("MSJobRestarting", restarting_words(job, note.cause).message);
    case Kind::Succeeded:
      return normal("MSJobSucceeded", succeeded_words(job).message);
    case Kind::Failed:
      return failed_event(job, note);
    case Kind::JobDeleted:
      return normal("SuccessfulDeleteJob", fmt::format("Deleted job: {}", job.name));
    case Kind::Warning:
      return warning(note.reason, note.detail);
  }
  return std::nullopt;
}

}  // namespace muster::dialects::mindspore
