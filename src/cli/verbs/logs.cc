#include <csignal>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/cluster/open_cluster.h"
#include "cli/jobs/job_follower.h"
#include "cli/logs/log_target.h"
#include "cli/terminal/rank_lines.h"
#include "cli/terminal/screen.h"
#include "cli/verbs/verbs.h"

namespace muster::cli {
namespace {

// What runs no longer, or does not yet know that it does.
constexpr Duration kLastLines = std::chrono::seconds(5);

LogWindow window_of(const LogsOptions& options, Time now) {
  LogWindow window{.since = options.since_time, .tail = options.tail};
  if (options.since) window.since = now - *options.since;
  return window;
}

Result<RankLogs::Options> wanted(const LogsOptions& options, const LogTarget& target, Time now) {
  RankLogs::Options wanted{.filter = options.filter,
                           .container = options.container,
                           .window = window_of(options, now),
                           .previous = options.previous,
                           .init = true};
  if (!target.only_pod.empty()) wanted.pods = {target.only_pod};
  if (!options.failed) return wanted;
  wanted.pods = target.failed_pods();
  if (wanted.pods.empty())
    return fail(ErrorCode::NotFound, fmt::format("no rank of {} failed", target.key.name));
  return wanted;
}

void see_all(const Context& context, const LogTarget& target, bool previous, RankLogs& logs) {
  for (const auto& pod : target.pods) logs.see(*pod);
  for (const KeptContainer& container : target.kept(context.home)) logs.see_kept(container);
  if (!previous) return;
  for (const KeptContainer& container : target.kept_before(context.home)) logs.see_last(container);
}

// Why nothing was shown; the exit code.
int tell_nothing(Context& context, const LogsOptions& options, const LogTarget& target) {
  const bool filtered = !options.filter.role.empty() || !options.filter.ranks.empty();
  const std::string ranks = target.ranks();
  if (options.previous) {
    context.output.note("error: no container of {} was started again\n", target.key.name);
    return exit_code::kFailed;
  }
  if (!options.container.empty() && !filtered) {
    context.output.note("error: no pod of {} has a container {}\n", target.key.name,
                        printable(options.container));
    return exit_code::kFailed;
  }
  if (filtered && !ranks.empty()) {
    context.output.note("error: {} has no such rank; it has {}\n", target.key.name, ranks);
    return exit_code::kFailed;
  }
  if (target.followed && ranks.empty() && context.wants_cluster()) {
    context.output.note(
        "error: {} has no pods: it has none yet, or they were cleaned up and took "
        "their logs with them\n",
        target.key.name);
    return exit_code::kFailed;
  }
  context.output.note("{} has not written anything yet\n", target.key.name);
  return exit_code::kOk;
}

// What there is now, and no more.
Task<Result<int>> show(Context& context, OpenCluster& target, LogTarget found,
                       LogsOptions options) {
  Screen screen(context.loop, context.output, Terminal::detect(context));
  RankLines lines(screen, {.prefix = options.prefix, .timestamps = options.timestamps});
  RankLogs logs(context, target.cluster(), lines,
                CO_TRY(wanted(options, found, context.loop.now())));
  see_all(context, found, options.previous, logs);
  context.output.on_broken([&logs] { logs.stop(); });
  const auto shown = co_await logs.show_present();
  logs.finish_all();
  context.output.on_broken({});
  co_await logs.close();
  CO_TRY(shown);
  logs.tell_troubles();
  if (logs.count() == 0) co_return tell_nothing(context, options, found);
  co_return logs.refused() == logs.count() ? exit_code::kFailed : exit_code::kOk;
}

struct Detaching {
  bool asked = false;   // by a person
  bool unread = false;  // nobody reads what we print
};

Task<void> detach_on_signal(rt::RealLoop& loop, Detaching& detaching, JobFollower& follower) {
  rt::Signals signals(loop, {SIGINT, SIGTERM});
  if (!co_await signals.next()) co_return;
  detaching.asked = true;
  follower.logs().stop();
  follower.changed().pulse();
}

Task<Result<int>> follow(Context& context, OpenCluster& target, LogTarget found,
                         LogsOptions options) {
  Screen screen(context.loop, context.output, Terminal::detect(context));
  RankLines lines(screen, {.prefix = options.prefix, .timestamps = options.timestamps});
  auto log_options = CO_TRY(wanted(options, found, context.loop.now()));
  log_options.goes_on = true;
  log_options.note = [&screen](const std::string& text) { screen.note(text); };
  JobFollower follower(context, target.cluster(), *found.followed, lines, std::move(log_options));
  rt::TaskScope scope(context.loop);
  Detaching detaching;
  scope.spawn(follow_window(context.loop, screen));
  scope.spawn(detach_on_signal(context.loop, detaching, follower));
  context.output.on_broken([&] {
    detaching.unread = true;
    follower.logs().stop();
    follower.changed().pulse();
  });
  see_all(context, found, false, follower.logs());
  [[maybe_unused]] const auto shown = co_await follower.logs().show_present();
  follower.logs().tell_troubles();
  follower.start();
  const auto detached = [&] { return detaching.asked || detaching.unread; };
  while (!detached() && !follower.gone() && !follower.finished()) {
    if (!co_await follower.changed().wait()) break;
  }
  if (!detached()) co_await follower.drain_logs(kLastLines);
  if (detaching.asked) {
    screen.note(
        fmt::format("still running — {} to stop", context.command("delete " + options.name)));
  }
  context.output.on_broken({});
  co_await scope.close();
  co_await follower.close();
  const bool nothing =
      follower.logs().count() > 0 && follower.logs().refused() == follower.logs().count();
  co_return nothing ? exit_code::kFailed : exit_code::kOk;
}

Task<Result<int>> logs_in(Context& context, OpenCluster& target, LogName name,
                          LogsOptions options) {
  LogTarget found = CO_TRY(co_await find_log_target(context, target, std::move(name)));
  if (options.follow && found.followed)
    co_return co_await follow(context, target, std::move(found), std::move(options));
  co_return co_await show(context, target, std::move(found), std::move(options));
}

}  // namespace

Task<int> logs(Context& context, LogsOptions options) {
  auto name = parse_log_name(context.registry, options.name);
  if (!name) co_return refuse_resource(context.output, name.error());
  const auto parts = options.follow ? PlaneParts::All : PlaneParts::Store;
  co_return co_await with_cluster(
      context, parts,
      [&context, name = std::move(*name), options = std::move(options)](OpenCluster& target) {
        return logs_in(context, target, name, options);
      });
}

}  // namespace muster::cli
