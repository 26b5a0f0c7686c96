#include <csignal>

#include <fmt/format.h>

#include "cli/cluster/capacity.h"
#include "cli/cluster/control_plane.h"
#include "cli/cluster/network_api.h"
#include "cli/cluster/open_cluster.h"
#include "cli/print_error.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {
namespace {

Task<void> stop_on_signal(rt::RealLoop& loop, rt::Event& over) {
  rt::Signals signals(loop, {SIGINT, SIGTERM});
  if (co_await signals.next()) over.set();
}

Task<void> stop_on_failure(ControlPlane& plane, rt::Event& over) {
  if (co_await plane.failed().wait()) over.set();
}

}  // namespace

Task<int> up(Context& context, UpOptions options) {
  const Monotonic begun = context.loop.monotonic();
  auto plane = co_await ControlPlane::start(context, PlaneParts::All, options.api_port);
  if (!plane) {
    print_error(context.output, plane.error());
    co_return exit_code::kFailed;
  }
  if (!options.quiet) {
    const auto took =
        std::chrono::duration_cast<std::chrono::milliseconds>(context.loop.monotonic() - begun);
    context.output.print("   Started  embedded control plane in {} ms · state in {}\n",
                         took.count(), context.home);
    context.output.print("       API  unix://{}\n", socket_path(context.home));
    if (!context.capacity.empty())
      context.output.print("  Declared  {}\n", describe(context.capacity));
    context.output.print("   kubectl  --kubeconfig {}\n", kubeconfig_path(context.home));
    context.output.print(
        "      Stop  Ctrl-C; pods survive, the next `muster up` takes them over\n");
    context.output.flush();
  }
  rt::Event over(context.loop);
  rt::TaskScope scope(context.loop);
  scope.spawn(stop_on_signal(context.loop, over));
  scope.spawn(stop_on_failure(**plane, over));
  [[maybe_unused]] const auto waited = co_await over.wait();
  co_await scope.close();
  const auto failure = (*plane)->failure();
  co_await (*plane)->close();
  if (failure) print_error(context.output, *failure);
  co_return failure ? exit_code::kFailed : exit_code::kOk;
}

}  // namespace muster::cli
