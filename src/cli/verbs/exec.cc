#include <unistd.h>

#include <fmt/format.h>

#include "api/exec.h"
#include "cli/cluster/open_cluster.h"
#include "cli/jobs/find_job.h"
#include "cli/jobs/find_rank.h"
#include "cli/print_error.h"
#include "cli/terminal/attached_program.h"
#include "cli/verbs/verbs.h"
#include "cluster/kube/kube_cluster.h"

namespace muster::cli {
namespace {

// NAME, KIND/NAME, pods/NAME, or RESOURCE NAME.
Result<JobName> what(const Context& context, const ExecVerbOptions& options) {
  const auto slash = options.name.find('/');
  const bool bare = options.resource.empty() && slash == std::string::npos;
  std::string resource = options.resource;
  if (resource.empty()) resource = bare ? "jobs" : options.name.substr(0, slash);
  const bool split = options.resource.empty() && !bare;
  JobName where{.kinds = TRY(resources_named(context.registry, resource)),
                .name = split ? options.name.substr(slash + 1) : options.name};
  const NamedResource& first = where.kinds.front();
  if (first.dialect == nullptr && first.resource != api::pods()) {
    return fail(ErrorCode::BadRequest,
                fmt::format("{} run nothing: name a job or a pod", first.resource.plural));
  }
  return where;
}

Task<Result<FoundRank>> find_place(Context& context, OpenCluster& target, JobName where,
                                   ExecVerbOptions options) {
  FoundRank place;
  if (where.kinds.front().dialect == nullptr) {
    place.pod = {.ns = target.ns(), .name = where.name};
  } else {
    const FoundJob job =
        CO_TRY(co_await find_job(context, target.cluster(), target.ns(), std::move(where)));
    place = CO_TRY(co_await find_running_rank(target.cluster(), job,
                                              {.role = options.role, .index = options.rank}));
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

Task<Result<int>> exec_in(Context& context, OpenCluster& target, JobName where,
                          ExecVerbOptions options) {
  const FoundRank place = CO_TRY(co_await find_place(context, target, std::move(where), options));
  if (target.remote() == nullptr) {
    co_return fail(ErrorCode::Unavailable, fmt::format("nothing runs in {}: start it with {}",
                                                       context.home, context.command("up")));
  }
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
  const auto wanted = what(context, options);
  if (!wanted) co_return refuse_resource(context.output, wanted.error());
  co_return co_await with_cluster(
      context, PlaneParts::Store,
      [&context, wanted = *wanted, options = std::move(options)](OpenCluster& target) {
        return exec_in(context, target, wanted, options);
      });
}

}  // namespace muster::cli
