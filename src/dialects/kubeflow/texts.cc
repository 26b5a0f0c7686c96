#include "dialects/kubeflow/texts.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/event.h"

namespace muster::dialects::kubeflow {

using plan::CauseKind;

Text Texts::created(const plan::JobRef& job) const {
  return {kind_ + "Created", fmt::format("{} {} is created.", kind_, job.name)};
}

Text Texts::running(const plan::JobRef& job) const {
  return {kind_ + "Running", fmt::format("{} {}/{} is running.", kind_, job.ns, job.name)};
}

Text Texts::restarting(const plan::JobRef& job, const std::optional<plan::Cause>& cause) const {
  const std::string role = cause && !cause->role.empty() ? cause->role : "Worker";
  return {kind_ + "Restarting",
          fmt::format("{} {} is restarting because {} replica(s) failed.", kind_, job.name, role)};
}

Text Texts::suspended(const plan::JobRef& job) const {
  return {kind_ + "Suspended", fmt::format("{} {} is suspended.", kind_, job.name)};
}

Text Texts::resumed(const plan::JobRef& job) const {
  return {kind_ + "Resumed", fmt::format("{} {} is resumed.", kind_, job.name)};
}

Text Texts::renewed(const plan::JobRef& job) const {
  return {kind_ + "Renewed",
          fmt::format("{} {} was edited: all of its pods are made anew.", kind_, job.name)};
}

Text Texts::succeeded(const plan::JobRef& job) const {
  return {kind_ + "Succeeded",
          fmt::format("{} {}/{} successfully completed.", kind_, job.ns, job.name)};
}

Text Texts::failed(const plan::JobRef& job, const std::optional<plan::Cause>& cause) const {
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
      return {kind_ + "FailedValidation", api::event_message(known.text)};
    case CauseKind::PodFailed:
      if (!known.role.empty()) {
        return {kind_ + "Failed",
                fmt::format("{} {}/{} has failed because {} {} replica(s) failed.", kind_, job.ns,
                            job.name, std::max(1, known.failed), known.role)};
      }
      break;
    case CauseKind::ForeignObject:
    case CauseKind::Rejected:
      break;
  }
  const auto why = known.text.empty() ? std::string() : fmt::format(" because {}", known.text);
  return {kind_ + "Failed",
          api::event_message(fmt::format("{} {}/{} has failed{}", kind_, job.ns, job.name, why))};
}

}  // namespace muster::dialects::kubeflow
