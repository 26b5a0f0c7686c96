#include "cli/objects/find_object.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/jobs/find_job.h"
#include "cli/objects/absent.h"

namespace muster::cli {
namespace {

Task<Result<FoundObject>> find_other(const Context& context, cluster::Cluster& cluster,
                                     std::string ns, ObjectName name) {
  const NamedResource& kind = name.kinds.front();
  auto object = co_await cluster.get(
      kind.resource, {.ns = kind.resource.namespaced() ? ns : "", .name = name.name});
  if (object) co_return FoundObject{.of = kind, .object = *object};
  if (object.error().code != ErrorCode::NotFound) co_return fail(object.error());
  co_return fail(co_await absent_object(context, cluster, ns, name));
}

}  // namespace

Task<Result<FoundObject>> find_object(const Context& context, cluster::Cluster& cluster,
                                      std::string ns, ObjectName name, BareName bare) {
  if (!name.is_job()) co_return co_await find_other(context, cluster, ns, name);
  const auto jobs = CO_TRY(co_await find_jobs(cluster, ns, name));
  if (jobs.empty() && name.bare && bare == BareName::JobOrPod) {
    const auto pod = co_await cluster.get(api::pods(), {.ns = ns, .name = name.name});
    if (pod) co_return FoundObject{.of = {.resource = api::pods()}, .object = *pod};
    // Not to be let in here is no reason to hide that there is no such job.
  }
  const FoundJob job = CO_TRY(co_await only_job(context, cluster, ns, name, jobs));
  co_return FoundObject{
      .of = {.resource = job.dialect->identity().resource, .dialect = job.dialect},
      .object = job.job};
}

Result<void> require_runnable(const ObjectName& name) {
  const NamedResource& kind = name.kinds.front();
  if (kind.dialect != nullptr || kind.resource == api::pods()) return {};
  return fail(ErrorCode::BadRequest,
              fmt::format("{} run nothing: name a job or a pod", kind.resource.plural));
}

Task<Result<FoundObject>> find_job_or_pod(const Context& context, cluster::Cluster& cluster,
                                          std::string ns, ObjectName name) {
  CO_TRY(require_runnable(name));
  co_return co_await find_object(context, cluster, std::move(ns), std::move(name),
                                 BareName::JobOrPod);
}

Result<void> require_job(const ObjectName& name) {
  if (name.is_job()) return {};
  const std::string& plural = name.kinds.front().resource.plural;
  return fail(ErrorCode::BadRequest,
              fmt::format("{}/{}: {} are no jobs", plural, printable(name.name), plural));
}

}  // namespace muster::cli
