#include <csignal>

#include <fmt/format.h>

#include "cli/cluster/open_cluster.h"
#include "cli/jobs/find_job.h"
#include "cli/jobs/listing.h"
#include "cli/tables/usage_table.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs/verbs.h"
#include "json/write.h"

namespace muster::cli {
namespace {

const api::Resource& pod_metrics() {
  static const api::Resource resource{
      .group = "metrics.k8s.io", .version = "v1beta1", .plural = "pods", .kind = "PodMetrics"};
  return resource;
}

// Whose pods: of a job, or all of a namespace.
Task<Result<api::Selection>> selection(Context& context, OpenCluster& target, std::string name) {
  if (name.empty()) co_return api::Selection{.ns = context.all_namespaces ? "" : target.ns()};
  auto where = CO_TRY(parse_job_name(context.registry, name));
  const FoundJob found =
      CO_TRY(co_await find_job(context, target.cluster(), target.ns(), std::move(where)));
  co_return api::Selection{.ns = target.ns(),
                           .labels = found.dialect->identity().pods_of(api::uid_of(*found.job))};
}

Task<Result<std::vector<RankUsage>>> measure(OpenCluster& target, api::Selection where) {
  const auto pods = CO_TRY(co_await list_all(target.cluster(), api::pods(), where));
  auto metrics = co_await list_all(target.cluster(), pod_metrics(), where);
  if (!metrics && metrics.error().code == ErrorCode::NotFound) {
    // Of our own machine: nobody keeps it up, so nothing runs.
    if (target.is_local()) co_return usage_of(pods, {});
    co_return fail(ErrorCode::NotFound,
                   "this cluster has no metrics API (metrics.k8s.io); metrics-server provides it");
  }
  if (!metrics) co_return fail(metrics.error());
  co_return usage_of(pods, *metrics);
}

void print_once(Context& context, const std::vector<RankUsage>& ranks, const std::string& format) {
  if (format == "json") {
    context.output.print("{}\n", json::write(usage_json(ranks)));
  } else if (ranks.empty()) {
    context.output.note("No pod runs.\n");
  } else {
    for (const std::string& line : usage_lines(ranks)) context.output.print("{}\n", line);
  }
}

Task<Result<int>> show(Context& context, OpenCluster& target, TopOptions options) {
  const auto where = CO_TRY(co_await selection(context, target, options.name));
  print_once(context, CO_TRY(co_await measure(target, where)), options.output);
  co_return exit_code::kOk;
}

}  // namespace

Task<int> top(Context& context, TopOptions options) {
  co_return co_await with_cluster(context, PlaneParts::Store,
                                  [&context, options = std::move(options)](OpenCluster& target) {
                                    return show(context, target, options);
                                  });
}

}  // namespace muster::cli
