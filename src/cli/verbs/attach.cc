#include <fmt/format.h>

#include "cli/cluster/open_cluster.h"
#include "cli/objects/find_object.h"
#include "cli/print_error.h"
#include "cli/run/attached_runs.h"
#include "cli/verbs/verbs.h"
#include "rt/scope.h"

namespace muster::cli {
namespace {

Task<Result<Followed>> find(Context& context, OpenCluster& target, ObjectName name) {
  const FoundObject found =
      CO_TRY(co_await find_job_or_pod(context, target.cluster(), target.ns(), std::move(name)));
  co_return found.of.dialect == nullptr ? Followed::pod(*found.object)
                                        : Followed::job(*found.object, *found.of.dialect);
}

Task<Result<int>> attach_in(Context& context, OpenCluster& target, ObjectName name) {
  auto found = CO_TRY(co_await find(context, target, std::move(name)));
  Screen screen(context.loop, context.output, Terminal::detect(context));
  Interruption interruption(context.loop);
  rt::TaskScope scope(context.loop);
  scope.spawn(watch_signals(context.loop, interruption, OnCtrlC::Detach));
  scope.spawn(follow_window(context.loop, screen));
  screen.note(fmt::format("  Attached  {} {} on {}; Ctrl-C detaches", found.resource.kind,
                          found.key.text(), target.description()));
  std::vector<Followed> one;
  one.push_back(std::move(found));
  AttachedRuns runs(context, target, screen, interruption, std::move(one), {});
  context.output.on_broken([&interruption] { interruption.detach(); });
  const int code = co_await runs.follow();
  context.output.on_broken({});
  co_await scope.close();
  co_return code;
}

}  // namespace

Task<int> attach(Context& context, FollowOptions options) {
  auto name = parse_only_name(context.registry, options.words);
  if (!name) co_return refuse_resource(context.output, name.error());
  co_return co_await with_cluster(context, PlaneParts::All,
                                  [&context, name = std::move(*name)](OpenCluster& target) {
                                    return attach_in(context, target, name);
                                  });
}

}  // namespace muster::cli
