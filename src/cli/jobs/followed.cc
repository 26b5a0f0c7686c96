#include "cli/jobs/followed.h"

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "plan/plan.h"

namespace muster::cli {
namespace {

plan::Phase phase_for(api::PodPhase phase) {
  switch (phase) {
    case api::PodPhase::Pending:
    case api::PodPhase::Unknown:
      return plan::Phase::Created;
    case api::PodPhase::Running:
      return plan::Phase::Running;
    case api::PodPhase::Succeeded:
      return plan::Phase::Succeeded;
    case api::PodPhase::Failed:
      return plan::Phase::Failed;
  }
  return plan::Phase::Created;
}

plan::Cause cause_of(const json::Value& pod) {
  const json::Value& status = pod["status"];
  plan::Cause cause{.pod = api::name_of(pod),
                    .reason = status["reason"].as_string(),
                    .text = status["message"].as_string()};
  if (cause.reason == "DeadlineExceeded") cause.kind = plan::CauseKind::Deadline;
  std::string first;
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const json::Value& container : status[list].as_array()) {
      const json::Value& ended = container["state"]["terminated"];
      const std::string& at = ended["finishedAt"].as_string();
      if (ended["exitCode"].as_int() == 0 || (!first.empty() && at >= first)) continue;
      first = at;
      cause.exit_code = static_cast<int>(ended["exitCode"].as_int());
      if (cause.reason.empty()) cause.reason = ended["reason"].as_string();
      if (cause.text.empty()) cause.text = ended["message"].as_string();
    }
  }
  return cause;
}

}  // namespace

JobView pod_view(const json::Value& pod) {
  JobView view{.phase = phase_for(api::phase_of(pod)),
               .ranks_ready = api::is_ready(pod) ? 1 : 0,
               .ranks = 1,
               .restarts = api::restarts_of(pod),
               .reason = pod["status"]["reason"].as_string(),
               .message = pod["status"]["message"].as_string()};
  if (view.phase != plan::Phase::Failed) return view;
  view.ledger.cause = cause_of(pod);
  if (view.message.empty()) view.message = "its pod failed";
  return view;
}

Followed Followed::job(const json::Value& job, const plan::Dialect& dialect) {
  return {.resource = dialect.identity().resource,
          .key = api::key_of(job),
          .uid = api::uid_of(job),
          .pods = {.ns = api::namespace_of(job),
                   .labels = dialect.identity().pods_of(api::uid_of(job))},
          .view = [&dialect](const json::Value& now) { return JobView::from(now, dialect); }};
}

Followed Followed::pod(const json::Value& pod) {
  return {.resource = api::pods(),
          .key = api::key_of(pod),
          .uid = api::uid_of(pod),
          .pods = {.ns = api::namespace_of(pod), .fields = "metadata.name=" + api::name_of(pod)},
          .view = pod_view};
}

}  // namespace muster::cli
