#include "cli/run/attached_runs.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "rt/scope.h"

namespace muster::cli {
namespace {

// More would take the screen from the output.
constexpr std::size_t kMostLines = 8;

}  // namespace

AttachedRuns::AttachedRuns(Context& context, OpenCluster& target, Screen& screen,
                           Interruption& interruption, std::vector<Followed> followed,
                           Origin origin)
    : changed_(context.loop),
      shared_{.context = context,
              .target = target,
              .screen = screen,
              .interruption = interruption,
              .origin = std::move(origin),
              .several = followed.size() > 1,
              .changed = changed_} {
  for (Followed& one : followed)
    runs_.push_back(std::make_unique<AttachedRun>(shared_, std::move(one)));
}

std::vector<std::string> AttachedRuns::unfinished() const {
  std::vector<std::string> names;
  for (const auto& run : runs_) {
    if (!run->is_over()) names.push_back(run->name());
  }
  return names;
}

Task<int> AttachedRuns::follow() {
  rt::TaskScope scope(shared_.context.loop);
  for (const auto& run : runs_) scope.spawn(follow_one(*run));
  scope.spawn(relay_interruptions());
  rt::Timer tick(shared_.context.loop);
  while (!unfinished().empty()) {
    tell_stopping();
    show_progress();
    tick.start(std::chrono::seconds(1), [this] { changed_.pulse(); });
    if (!co_await changed_.wait()) break;
  }
  shared_.screen.clear_status();
  co_await scope.close();
  tell_detached();
  co_return code_;
}

Task<void> AttachedRuns::follow_one(AttachedRun& run) {
  co_await run.follow();
  if (code_ == exit_code::kOk) code_ = run.result().exit_code;
}

Task<void> AttachedRuns::relay_interruptions() {
  while (co_await shared_.interruption.happened.wait()) changed_.pulse();
}

void AttachedRuns::tell_stopping() {
  if (shared_.interruption.count == 0 || told_stopping_) return;
  told_stopping_ = true;
  shared_.screen.note(fmt::format("  Stopping  {} (again to kill)", join(unfinished(), ", ")));
}

// Whoever went away may come back.
void AttachedRuns::tell_detached() {
  for (const auto& run : runs_) {
    if (run->result().ended != RunResult::Ended::Detached) continue;
    shared_.screen.note(fmt::format("  Detached  {} goes on; follow it again: {}   stop it: {}",
                                    run->name(),
                                    shared_.context.command("attach " + run->spelling()),
                                    shared_.context.command("delete " + run->spelling())));
  }
}

void AttachedRuns::show_progress() {
  std::vector<StatusLine> lines;
  std::size_t more = 0;
  for (const auto& run : runs_) {
    if (run->is_over()) continue;
    if (lines.size() < kMostLines) {
      lines.push_back(run->progress());
    } else {
      ++more;
    }
  }
  if (more > 0) lines.emplace_back(fmt::format(" and {} more", more));
  shared_.screen.status(std::move(lines));
}

std::vector<RunResult> AttachedRuns::results() const {
  std::vector<RunResult> all;
  for (const auto& run : runs_) all.push_back(run->result());
  return all;
}

}  // namespace muster::cli
