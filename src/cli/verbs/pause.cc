#include <algorithm>

#include <fmt/format.h>

#include "api/pod.h"
#include "base/strings.h"
#include "cli/cluster/open_cluster.h"
#include "cli/jobs/find_job.h"
#include "cli/jobs/job_view.h"
#include "cli/objects/find_object.h"
#include "cli/objects/watched.h"
#include "cli/verbs/verbs.h"
#include "plan/suspend.h"
#include "rt/wait.h"

namespace muster::cli {
namespace {

Result<std::vector<ObjectName>> parse_jobs(const plan::Registry& registry,
                                           const std::vector<std::string>& words) {
  auto names = TRY(parse_names(registry, words));
  for (const ObjectName& name : names) TRY(require_job(name));
  return names;
}

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
Task<Result<void>> watch_until_paused(Watched& jobs, Watched& pods, FoundJob found,
                                      rt::Event& changed) {
  const std::string uid = api::uid_of(*found.job);
  while (true) {
    for (const Watched* one : {&jobs, &pods}) {
      if (const auto refusal = one->refusal()) co_return fail(*refusal);
    }
    if (jobs.known() && pods.known()) {
      const auto now = jobs.objects().find(api::key_of(*found.job));
      if (now == jobs.objects().end() || api::uid_of(*now->second) != uid) {
        co_return fail(ErrorCode::NotFound,
                       fmt::format("{} was deleted", api::name_of(*found.job)));
      }
      found.job = now->second;
      const JobView view = JobView::from(*found.job, *found.dialect);
      if (view.finished()) co_return fail(ended(found, "pause"));
      const bool free = std::ranges::all_of(pods.objects(), [](const auto& one) {
        return api::is_finished(api::phase_of(*one.second)) && !api::is_deleting(*one.second);
      });
      if (view.phase == plan::Phase::Suspended && free) co_return Result<void>{};
    }
    CO_TRY(co_await changed.wait());
  }
}

Task<Result<void>> wait_until_paused(Context& context, cluster::Cluster& cluster, FoundJob found) {
  const plan::Identity& identity = found.dialect->identity();
  const api::ObjectKey key = api::key_of(*found.job);
  rt::Event changed(context.loop);
  Watched jobs(context, cluster, identity.resource,
               {.ns = key.ns, .fields = "metadata.name=" + key.name}, changed);
  Watched pods(context, cluster, api::pods(),
               {.ns = key.ns, .labels = identity.pods_of(api::uid_of(*found.job))}, changed);
  jobs.start();
  pods.start();
  auto paused = co_await watch_until_paused(jobs, pods, std::move(found), changed);
  co_await jobs.close();
  co_await pods.close();
  co_return paused;
}

// All of them, or none when one is not there.
Task<Result<std::vector<FoundJob>>> find_them(Context& context, OpenCluster& target,
                                              std::vector<ObjectName> names) {
  std::vector<FoundJob> jobs;
  for (const ObjectName& name : names)
    jobs.push_back(CO_TRY(co_await find_job(context, target.cluster(), target.ns(), name)));
  co_return jobs;
}

void print_done(Context& context, const FoundJob& found, std::string_view what) {
  context.output.print("{} \"{}\" {}\n", found.dialect->identity().resource.qualified(),
                       api::name_of(*found.job), what);
}

Task<Result<int>> pause_in(Context& context, OpenCluster& target, std::vector<ObjectName> names,
                           bool wait) {
  const auto jobs = CO_TRY(co_await find_them(context, target, std::move(names)));
  for (const FoundJob& job : jobs) CO_TRY(co_await set_suspended(target.cluster(), job, true));
  for (const FoundJob& job : jobs) {
    if (wait) CO_TRY(co_await wait_until_paused(context, target.cluster(), job));
    print_done(context, job, "paused");
  }
  co_return exit_code::kOk;
}

Task<Result<int>> resume_in(Context& context, OpenCluster& target, std::vector<ObjectName> names) {
  const auto jobs = CO_TRY(co_await find_them(context, target, std::move(names)));
  for (const FoundJob& job : jobs) {
    CO_TRY(co_await set_suspended(target.cluster(), job, false));
    print_done(context, job, "resumed");
  }
  co_return exit_code::kOk;
}

}  // namespace

Task<int> pause(Context& context, PauseOptions options) {
  auto names = parse_jobs(context.registry, options.words);
  if (!names) co_return refuse_resource(context.output, names.error());
  co_return co_await with_cluster(
      context, PlaneParts::All,
      [&context, names = std::move(*names), wait = options.wait](OpenCluster& target) {
        return pause_in(context, target, names, wait);
      });
}

Task<int> resume(Context& context, ResumeOptions options) {
  auto names = parse_jobs(context.registry, options.words);
  if (!names) co_return refuse_resource(context.output, names.error());
  co_return co_await with_cluster(context, PlaneParts::All,
                                  [&context, names = std::move(*names)](OpenCluster& target) {
                                    return resume_in(context, target, names);
                                  });
}

}  // namespace muster::cli
