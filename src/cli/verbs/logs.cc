#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/cluster/open_cluster.h"
#include "cli/jobs/find_job.h"
#include "cli/jobs/job_follower.h"
#include "cli/jobs/kept_logs.h"
#include "cli/terminal/screen.h"
#include "cli/verbs/verbs.h"
#include "node/logs/log_source.h"
#include "plan/plan.h"

namespace muster::cli {
namespace {

struct Line {
  std::string time;
  std::size_t order = 0;  // as read, for equal times
  std::string text;       // with its prefix
};

// Whole lines of one log with their time, so that several can be merged.
void collect(std::string_view text, const std::string& prefix, bool timestamps, bool color,
             std::vector<Line>& lines) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.empty()) continue;
    const auto space = line.find(' ');
    const std::string time(line.substr(0, space));
    const std::string_view rest =
        space == std::string_view::npos ? std::string_view() : line.substr(space + 1);
    lines.push_back({.time = time,
                     .order = lines.size(),
                     .text = prefix + (timestamps ? time + " " : "") + safe_line(rest, color)});
  }
}

void print_merged(Output& output, std::vector<Line> lines, const std::optional<int>& tail) {
  std::ranges::sort(lines, {}, [](const Line& line) { return std::pair(line.time, line.order); });
  const std::size_t from = tail && lines.size() > static_cast<std::size_t>(*tail)
                               ? lines.size() - static_cast<std::size_t>(*tail)
                               : 0;
  for (std::size_t i = from; i < lines.size(); ++i) output.print("{}\n", lines[i].text);
}

Task<std::string> read_all(cluster::LogStream& stream) {
  std::string text;
  while (true) {
    const auto chunk = co_await stream.next();
    if (!chunk || !*chunk) co_return text;
    text += **chunk;
  }
}

// What this machine kept of a job, whether it still exists or not.
Task<bool> print_kept(Context& context, const Terminal& terminal, const std::string& ns,
                      const LogsOptions& options) {
  std::vector<Line> lines;
  const auto kept = kept_logs(context.home, ns, options.name);
  for (const KeptLog& log : kept) {
    if (!options.filter.accepts(log.role, log.index)) continue;
    node::FileLogStream file(context.loop, log.path, {.timestamps = true}, [] { return true; });
    const std::string text = co_await read_all(file);
    const std::string prefix =
        options.prefix ? line_prefix(terminal, log.role, log.index, log.index == 0) : "";
    collect(text, prefix, options.timestamps, terminal.color, lines);
  }
  print_merged(context.output, std::move(lines), options.tail);
  co_return !kept.empty();
}

Task<Result<void>> print_current(Context& context, OpenCluster& target, const Terminal& terminal,
                                 const plan::Dialect& dialect, const json::Value& job,
                                 LogsOptions options) {
  const auto pods = CO_TRY(co_await target.cluster().list(
      api::pods(), {.where = {.ns = api::namespace_of(job),
                              .labels = dialect.identity().pods_of(api::uid_of(job))}}));
  std::vector<Line> lines;
  for (const auto& pod : pods.items) {
    const std::string& role = api::label_of(*pod, plan::labels::kRole);
    const int index =
        static_cast<int>(parse_int(api::label_of(*pod, plan::labels::kIndex)).value_or(0));
    if (!options.filter.accepts(role, index)) continue;
    for (const json::Value& container : (*pod)["spec"]["containers"].as_array()) {
      auto stream = co_await target.cluster().log(api::key_of(*pod),
                                                  {.container = container["name"].as_string(),
                                                   .previous = options.previous,
                                                   .timestamps = true});
      if (!stream) continue;  // not started yet
      const std::string text = co_await read_all(**stream);
      const std::string prefix =
          options.prefix ? line_prefix(terminal, role, index, index == 0) : "";
      collect(text, prefix, options.timestamps, terminal.color, lines);
    }
  }
  print_merged(context.output, std::move(lines), options.tail);
  co_return Result<void>{};
}

Task<void> detach_on_signal(rt::RealLoop& loop, bool& detached, JobFollower& follower) {
  rt::Signals signals(loop, {SIGINT, SIGTERM});
  if (!co_await signals.next()) co_return;
  detached = true;
  follower.changed().pulse();
}

Task<Result<void>> follow(Context& context, OpenCluster& target, const FoundJob& found,
                          LogsOptions options) {
  Screen screen(context.loop, context.output, Terminal::detect(context));
  JobFollower follower(context, target.cluster(), Followed::job(*found.job, *found.dialect), screen,
                       {.filter = options.filter, .prefix = options.prefix});
  follower.start();
  rt::TaskScope scope(context.loop);
  bool detached = false;
  scope.spawn(follow_window(context.loop, screen));
  scope.spawn(detach_on_signal(context.loop, detached, follower));
  while (!detached && !follower.gone() && !follower.finished()) {
    if (!co_await follower.changed().wait()) break;
  }
  if (detached) {
    screen.note(fmt::format("still running — muster delete {} to stop", options.name));
  } else {
    co_await follower.drain_logs(std::chrono::seconds(5));
  }
  co_await scope.close();
  co_await follower.close();
  co_return Result<void>{};
}

Task<Result<int>> logs_in(Context& context, OpenCluster& target, JobName where,
                          LogsOptions options) {
  options.name = where.name;
  const Terminal terminal = Terminal::detect(context);
  const auto found = co_await find_job(context, target.cluster(), target.ns(), where);
  if (!found && found.error().code != ErrorCode::NotFound) co_return fail(found.error());
  if (found && options.follow) {
    CO_TRY(co_await follow(context, target, *found, std::move(options)));
    co_return exit_code::kOk;
  }
  // A pod that was cleaned up is gone from the API; its log is still on this machine.
  if (target.is_local() && !options.previous &&
      co_await print_kept(context, terminal, target.ns(), options)) {
    co_return exit_code::kOk;
  }
  if (!found) co_return fail(found.error());
  CO_TRY(co_await print_current(context, target, terminal, *found->dialect, *found->job,
                                std::move(options)));
  co_return exit_code::kOk;
}

}  // namespace

Task<int> logs(Context& context, LogsOptions options) {
  auto where = parse_job_name(context.registry, options.name);
  if (!where) co_return refuse_resource(context.output, where.error());
  co_return co_await with_cluster(
      context, PlaneParts::Store,
      [&context, where = std::move(*where), options = std::move(options)](OpenCluster& target) {
        return logs_in(context, target, where, options);
      });
}

}  // namespace muster::cli
