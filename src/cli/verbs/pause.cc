#include <algorithm>

#include <fmt/format.h>

#include "api/pod.h"
#include "base/strings.h"
#include "cli/cluster/open_cluster.h"
#include "cli/jobs/find_job.h"
#include "cli/jobs/job_view.h"
#include "cli/jobs/listing.h"
#include "cli/print_error.h"
#include "cli/verbs/verbs.h"
#include "plan/suspend.h"
#include "rt/wait.h"

namespace muster::cli {
namespace {

Error ended(const FoundJob& found, std::string_view what) {
  const JobView view = JobView::from(*found.job, *found.dialect);
  return {.code = ErrorCode::Conflict,
          .message = fmt::format("{} has ended ({}): there is nothing to {}",
                                 api::name_of(*found.job), to_lower(view.state()), what)};
}

// Sets whatever suspends jobs of that kind, however often others write to the job meanwhile.
Task<Result<void>> set_suspended(cluster::Cluster& cluster, FoundJob found, bool suspended) {
  const plan::Identity& identity = found.dialect->identity();
  const std::string uid = api::uid_of(*found.job);
  while (true) {
    if (JobView::from(*found.job, *found.dialect).finished())
      co_return fail(ended(found, suspended ? "pause" : "resume"));
    json::Value edited = *found.job;
    if (!CO_TRY(plan::set_suspended(identity, edited, suspended))) co_return Result<void>{};
    const auto stored = co_await cluster.update(identity.resource, std::move(edited));
    if (stored) co_return Result<void>{};
    if (stored.error().code != ErrorCode::Conflict) co_return fail(stored.error());
    found.job = CO_TRY(co_await cluster.get(identity.resource, api::key_of(*found.job)));
    if (api::uid_of(*found.job) != uid)
      co_return fail(ErrorCode::Conflict, "another job of that name was created meanwhile");
  }
}

// Until the status says so and nothing of the job runs. Pods that have ended may stay.
Task<Result<void>> wait_until_paused(const Context& context, cluster::Cluster& cluster,
                                     FoundJob found) {
  const plan::Identity& identity = found.dialect->identity();
  const api::ObjectKey key = api::key_of(*found.job);
  const std::string labels = identity.pods_of(api::uid_of(*found.job));
  while (true) {
    found.job = CO_TRY(co_await cluster.get(identity.resource, key));
    const JobView view = JobView::from(*found.job, *found.dialect);
    if (view.finished()) co_return fail(ended(found, "pause"));
    if (view.phase == plan::Phase::Suspended) {
      const auto pods =
          CO_TRY(co_await list_all(cluster, api::pods(), {.ns = key.ns, .labels = labels}));
      const bool free = std::ranges::all_of(pods, [](const auto& pod) {
        return api::is_finished(api::phase_of(*pod)) && !api::is_deleting(*pod);
      });
      if (free) co_return Result<void>{};
    }
    CO_TRY(co_await rt::sleep_for(context.loop, std::chrono::milliseconds(100)));
  }
}

Task<Result<int>> pause_in(Context& context, OpenCluster& target, JobName where, bool wait) {
  const FoundJob found = CO_TRY(co_await find_job(context, target.cluster(), target.ns(), where));
  CO_TRY(co_await set_suspended(target.cluster(), found, true));
  if (wait) CO_TRY(co_await wait_until_paused(context, target.cluster(), found));
  context.output.print("{} \"{}\" paused\n", found.dialect->identity().resource.qualified(),
                       where.name);
  co_return exit_code::kOk;
}

Task<Result<int>> resume_in(Context& context, OpenCluster& target, JobName where) {
  const FoundJob found = CO_TRY(co_await find_job(context, target.cluster(), target.ns(), where));
  CO_TRY(co_await set_suspended(target.cluster(), found, false));
  context.output.print("{} \"{}\" resumed\n", found.dialect->identity().resource.qualified(),
                       where.name);
  co_return exit_code::kOk;
}

}  // namespace

Task<int> pause(Context& context, PauseOptions options) {
  auto where = parse_job_name(context.registry, options.name);
  if (!where) co_return refuse_resource(context.output, where.error());
  co_return co_await with_cluster(
      context, PlaneParts::All,
      [&context, where = std::move(*where), wait = options.wait](OpenCluster& target) {
        return pause_in(context, target, where, wait);
      });
}

Task<int> resume(Context& context, ResumeOptions options) {
  auto where = parse_job_name(context.registry, options.name);
  if (!where) co_return refuse_resource(context.output, where.error());
  co_return co_await with_cluster(context, PlaneParts::All,
                                  [&context, where = std::move(*where)](OpenCluster& target) {
                                    return resume_in(context, target, where);
                                  });
}

}  // namespace muster::cli
