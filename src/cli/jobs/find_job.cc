#include "cli/jobs/find_job.h"

#include <fmt/format.h>

namespace muster::cli {

Task<Result<FoundJob>> find_job(const Context& context, cluster::Cluster& cluster, std::string ns,
                                std::string name) {
  for (const auto& dialect : context.registry.all()) {
    auto job = co_await cluster.get(dialect->identity().resource, {.ns = ns, .name = name});
    if (job) co_return FoundJob{.dialect = dialect.get(), .job = *job};
    if (job.error().code != ErrorCode::NotFound) co_return fail(job.error());
  }
  co_return fail(ErrorCode::NotFound,
                 fmt::format("no job \"{}\" in namespace {}; see: muster get -A", name, ns));
}

}  // namespace muster::cli
