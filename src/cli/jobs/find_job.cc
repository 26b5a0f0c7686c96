#include "cli/jobs/find_job.h"

#include <optional>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/objects/absent.h"
#include "cli/objects/find_object.h"

namespace muster::cli {

Result<ObjectName> parse_job_name(const plan::Registry& registry, const std::string& text) {
  ObjectName where = TRY(parse_name(registry, text));
  TRY(require_job(where));
  return where;
}

Task<Result<std::vector<FoundJob>>> find_jobs(cluster::Cluster& cluster, std::string ns,
                                              ObjectName where) {
  std::vector<FoundJob> found;
  std::optional<Error> refused;
  for (const NamedResource& kind : where.kinds) {
    auto job = co_await cluster.get(kind.resource, {.ns = ns, .name = where.name});
    if (job) {
      found.push_back({.dialect = kind.dialect, .job = *job});
    } else if (job.error().code == ErrorCode::Forbidden) {
      refused = job.error();
    } else if (job.error().code != ErrorCode::NotFound) {
      co_return fail(job.error());
    }
  }
  if (found.empty() && refused) co_return fail(*refused);
  co_return found;
}

Task<Result<FoundJob>> only_job(const Context& context, cluster::Cluster& cluster, std::string ns,
                                ObjectName where, std::vector<FoundJob> found) {
  if (found.empty()) co_return fail(co_await absent_object(context, cluster, ns, where));
  if (found.size() == 1) co_return found.front();
  std::vector<std::string> spellings;
  for (const FoundJob& one : found) {
    spellings.push_back(
        fmt::format("{}/{}", full_spelling(context.registry, *one.dialect), where.name));
  }
  co_return fail(ErrorCode::BadRequest,
                 fmt::format("{} kinds have a job \"{}\" in namespace {}; say which: {}",
                             found.size(), printable(where.name), ns, join(spellings, " or ")));
}

Task<Result<FoundJob>> find_job(const Context& context, cluster::Cluster& cluster, std::string ns,
                                ObjectName where) {
  CO_TRY(require_job(where));
  auto found = CO_TRY(co_await find_jobs(cluster, ns, where));
  co_return co_await only_job(context, cluster, ns, where, std::move(found));
}

}  // namespace muster::cli
