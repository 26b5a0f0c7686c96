#include <fmt/format.h>

#include "cli/cluster/open_cluster.h"
#include "cli/jobs/find_job.h"
#include "cli/print_error.h"
#include "cli/run/attached_runs.h"
#include "cli/verbs/verbs.h"
#include "rt/scope.h"

namespace muster::cli {
namespace {

// Where it may be: a job, or a pod.
Result<JobName> named(const plan::Registry& registry, const std::string& text) {
  const auto slash = text.find('/');
  if (slash != std::string::npos) {
    auto kinds = TRY(resources_named(registry, text.substr(0, slash)));
    if (kinds.front().resource == api::pods())
      return JobName{.kinds = std::move(kinds), .name = text.substr(slash + 1)};
  }
  return parse_job_name(registry, text);
}

Task<Result<Followed>> find(Context& context, OpenCluster& target, JobName where) {
  if (where.kinds.front().resource == api::pods()) {
    const auto pod =
        CO_TRY(co_await target.cluster().get(api::pods(), {.ns = target.ns(), .name = where.name}));
    co_return Followed::pod(*pod);
  }
  const FoundJob job = CO_TRY(co_await find_job(context, target.cluster(), target.ns(), where));
  co_return Followed::job(*job.job, *job.dialect);
}

Task<Result<int>> attach_in(Context& context, OpenCluster& target, JobName where) {
  auto found = CO_TRY(co_await find(context, target, std::move(where)));
  Screen screen(context.loop, context.output, Terminal::detect(context));
  Interruption interruption(context.loop);
  rt::TaskScope scope(context.loop);
  scope.spawn(watch_signals(context.loop, interruption, OnCtrlC::Detach));
  scope.spawn(follow_window(context.loop, screen));
  screen.note(fmt::format("  Attached  {} {} on {}; Ctrl-C detaches", found.resource.kind,
                          found.key.text(), target.description()));
  std::vector<Followed> one;
  one.push_back(std::move(found));
  AttachedRuns runs(context, target, screen, interruption, std::move(one), "");
  context.output.on_broken([&interruption] { interruption.detach(); });
  const int code = co_await runs.follow();
  context.output.on_broken({});
  co_await scope.close();
  co_return code;
}

}  // namespace

Task<int> attach(Context& context, FollowOptions options) {
  auto where = named(context.registry, options.name);
  if (!where) co_return refuse_resource(context.output, where.error());
  co_return co_await with_cluster(context, PlaneParts::All,
                                  [&context, where = std::move(*where)](OpenCluster& target) {
                                    return attach_in(context, target, where);
                                  });
}

}  // namespace muster::cli
