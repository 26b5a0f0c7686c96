#include <csignal>

#include <fmt/format.h>

#include "cli/cluster/open_cluster.h"
#include "cli/jobs/find_job.h"
#include "cli/jobs/listing.h"
#include "cli/tables/usage_table.h"
#include "cli/terminal/full_screen.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs/verbs.h"
#include "json/write.h"
#include "rt/scope.h"
#include "rt/wait.h"

namespace muster::cli {
namespace {

constexpr Duration kEvery = std::chrono::seconds(2);

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

Task<void> end_on_signal(rt::RealLoop& loop, rt::Event& over) {
  rt::Signals signals(loop, {SIGINT, SIGTERM, SIGHUP});
  if (co_await signals.next()) over.set();
}

std::vector<std::string> view(const std::vector<RankUsage>& ranks) {
  std::vector<std::string> lines =
      ranks.empty() ? std::vector<std::string>{"No pod runs."} : usage_lines(ranks);
  lines.emplace_back();
  lines.emplace_back("Ctrl-C ends this.");
  return lines;
}

// Draws until somebody ends it or nobody looks any more; what was last seen stays.
Task<Result<int>> keep_showing(Context& context, OpenCluster& target, api::Selection where) {
  rt::Event over(context.loop);
  context.output.on_broken([&over] { over.set(); });
  rt::TaskScope scope(context.loop);
  scope.spawn(end_on_signal(context.loop, over));
  Result<std::vector<RankUsage>> ranks;
  {
    FullScreen screen(context.output);
    while (!over.is_set()) {
      ranks = co_await measure(target, where);
      if (!ranks) break;
      screen.show(view(*ranks));
      [[maybe_unused]] const auto waited =
          co_await rt::with_timeout(context.loop, kEvery, over.wait());
    }
  }
  co_await scope.close();
  context.output.on_broken(nullptr);
  if (!ranks) co_return fail(ranks.error());
  print_once(context, *ranks, "");
  co_return exit_code::kOk;
}

Task<Result<int>> show(Context& context, OpenCluster& target, TopOptions options, bool live) {
  const auto where = CO_TRY(co_await selection(context, target, options.name));
  if (live) co_return co_await keep_showing(context, target, where);
  print_once(context, CO_TRY(co_await measure(target, where)), options.output);
  co_return exit_code::kOk;
}

}  // namespace

Task<int> top(Context& context, TopOptions options) {
  const bool live =
      !options.once && options.output.empty() && Terminal::detect(context).out_is_terminal;
  // Whoever goes on looking sees what others begin meanwhile; the store alone does not say.
  co_return co_await with_cluster(
      context, live ? PlaneParts::All : PlaneParts::Store,
      [&context, live, options = std::move(options)](OpenCluster& target) {
        return show(context, target, options, live);
      });
}

}  // namespace muster::cli
