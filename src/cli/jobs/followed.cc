#include "cli/jobs/followed.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "api/waiting.h"
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

// How a container ended, now or before it was started again; null: it never did.
const json::Value& last_end(const json::Value& container) {
  const json::Value& now = container["state"]["terminated"];
  return now.is_object() ? now : container["lastState"]["terminated"];
}

plan::Cause cause_of(const json::Value& pod) {
  const json::Value& status = pod["status"];
  plan::Cause cause{.pod = api::name_of(pod),
                    .reason = status["reason"].as_string(),
                    .text = status["message"].as_string()};
  if (cause.reason == "DeadlineExceeded") cause.kind = plan::CauseKind::Deadline;
  if (api::condition_of(pod, api::kCannotStart)["reason"].as_string() ==
      api::cannot_start::kRefused)
    cause.kind = plan::CauseKind::Rejected;
  std::string first;
  for (const char* list : {"initContainerStatuses", "containerStatuses"}) {
    for (const json::Value& container : status[list].as_array()) {
      const json::Value& ended = last_end(container);
      const std::string& at = ended["finishedAt"].as_string();
      if (ended["exitCode"].as_int() == 0 || (!first.empty() && at >= first)) continue;
      first = at;
      cause.at = api::time_at(ended["finishedAt"]);
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
  return view;
}

bool outlives_its_run(const json::Value& pod) {
  const json::Array& containers = pod["status"]["containerStatuses"].as_array();
  return pod["spec"]["restartPolicy"].as_string() == "Always" &&
         !api::is_finished(api::phase_of(pod)) && !containers.empty() &&
         std::ranges::all_of(containers, [](const json::Value& container) {
           return last_end(container).is_object();
         });
}

JobView pod_run_view(const json::Value& pod) {
  JobView view = pod_view(pod);
  if (!outlives_its_run(pod)) return view;
  const plan::Cause cause = cause_of(pod);
  view.phase = cause.exit_code ? plan::Phase::Failed : plan::Phase::Succeeded;
  if (cause.exit_code) view.ledger.cause = cause;
  return view;
}

Followed Followed::job(const json::Value& job, const plan::Dialect& dialect) {
  return {.resource = dialect.identity().resource,
          .key = api::key_of(job),
          .uid = api::uid_of(job),
          .pods = {.ns = api::namespace_of(job),
                   .labels = dialect.identity().pods_of(api::uid_of(job))},
          .view = [&dialect](const json::Value& now) { return JobView::from(now, dialect); },
          .dialect = &dialect};
}

Followed Followed::pod(const json::Value& pod) {
  return {.resource = api::pods(),
          .key = api::key_of(pod),
          .uid = api::uid_of(pod),
          .pods = {.ns = api::namespace_of(pod), .fields = "metadata.name=" + api::name_of(pod)},
          .view = pod_view};
}

Followed Followed::one_run_of(const json::Value& pod) {
  Followed followed = Followed::pod(pod);
  followed.view = pod_run_view;
  return followed;
}

}  // namespace muster::cli
