#include "cli/plane/unfinished.h"

#include <optional>
#include <set>

#include "api/object.h"
#include "api/pod.h"
#include "cli/jobs/job_view.h"
#include "plan/suspend.h"

namespace muster::cli {
namespace {

bool has_ended(const json::Value& pod) {
  return api::is_finished(api::phase_of(pod)) && !api::is_deleting(pod);
}

// Its status says that it is held, and it is still asked to be.
bool is_suspended(const json::Value& job, const plan::Dialect& dialect, plan::Phase phase) {
  if (phase != plan::Phase::Suspended) return false;
  json::Value copy = job;
  const auto changed = plan::set_suspended(dialect.identity(), copy, true);
  return changed && !*changed;
}

bool is_over(const json::Value& job, const plan::Dialect& dialect) {
  if (api::is_deleting(job)) return false;
  if (!dialect.manages(job)) return true;
  const JobView view = JobView::from(job, dialect);
  return view.finished() || is_suspended(job, dialect, view.phase);
}

std::optional<api::OwnerReference> controller_of(const json::Value& pod) {
  for (api::OwnerReference& owner : api::owners_of(pod)) {
    if (owner.controller) return std::move(owner);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> unfinished(const server::Core& core, const plan::Registry& registry) {
  std::vector<std::string> names;
  std::set<std::string> uids;  // of jobs that are named already
  for (const auto& dialect : registry.all()) {
    for (const auto& [key, job] : core.objects(dialect->identity().resource)) {
      if (is_over(*job, *dialect)) continue;
      names.push_back(key.text());
      uids.insert(api::uid_of(*job));
    }
  }
  for (const auto& [key, pod] : core.objects(api::pods())) {
    if (has_ended(*pod)) continue;
    const auto job = controller_of(*pod);
    if (job && !uids.insert(job->uid).second) continue;
    names.push_back(job ? api::ObjectKey{.ns = key.ns, .name = job->name}.text() : key.text());
  }
  return names;
}

}  // namespace muster::cli
