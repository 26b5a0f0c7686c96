#include <unistd.h>

#include <fmt/format.h>

#include "api/object.h"
#include "cli/cluster/open_cluster.h"
#include "cli/objects/find_object.h"
#include "cli/objects/find_rank.h"
#include "cli/terminal/attached_program.h"
#include "cli/verbs/verbs.h"
#include "cluster/kube/kube_cluster.h"

namespace muster::cli {
namespace {

Task<Result<FoundRank>> find_place(Context& context, OpenCluster& target, ObjectName name,
                                   ExecVerbOptions options) {
  const FoundObject found =
      CO_TRY(co_await find_job_or_pod(context, target.cluster(), target.ns(), std::move(name)));
  FoundRank place{.pod = api::key_of(*found.object)};
  if (found.of.dialect != nullptr) {
    place = CO_TRY(co_await find_running_rank(target.cluster(),
                                              {.dialect = found.of.dialect, .job = found.object},
                                              {.role = options.role, .index = options.rank}));
  } else if (!options.role.empty() || options.rank) {
    co_return fail(ErrorCode::BadRequest,
                   fmt::format("{} is a pod: --role and --rank are for jobs", place.pod.name));
  }
  if (!options.container.empty()) place.container = options.container;
  co_return place;
}

// What the user asked for, and without a word: a terminal where there is one on both ends.
AttachOptions attachment(Output& output, const ExecVerbOptions& options) {
  const bool terminal_in = ::isatty(STDIN_FILENO) == 1;
  AttachOptions attach{.input = options.input, .terminal = options.terminal};
  if (!attach.input && !attach.terminal && terminal_in && ::isatty(STDOUT_FILENO) == 1)
    attach = {.input = true, .terminal = true};
  if (attach.terminal && !terminal_in) {
    output.note("standard input is not a terminal: -t is left out\n");
    attach.terminal = false;
  }
  return attach;
}

Task<Result<int>> exec_in(Context& context, OpenCluster& target, ObjectName name,
                          ExecVerbOptions options) {
  const FoundRank place = CO_TRY(co_await find_place(context, target, std::move(name), options));
  const AttachOptions attach = attachment(context.output, options);
  auto program = CO_TRY(co_await target.remote()->exec(place.pod, {.container = place.container,
                                                                   .command = options.command,
                                                                   .input = attach.input,
                                                                   .output = true,
                                                                   .error = !attach.terminal,
                                                                   .terminal = attach.terminal}));
  co_return co_await attach_program(context.loop, *program, attach);
}

}  // namespace

Task<int> exec(Context& context, ExecVerbOptions options) {
  const auto name = parse_only_name(context.registry, options.words);
  if (!name) co_return refuse_resource(context.output, name.error());
  if (const auto runs = require_runnable(*name); !runs)
    co_return refuse_resource(context.output, runs.error());
  co_return co_await with_cluster(
      context, PlaneParts::All,
      [&context, name = *name, options = std::move(options)](OpenCluster& target) {
        return exec_in(context, target, name, options);
      });
}

}  // namespace muster::cli
