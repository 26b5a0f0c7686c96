#include <csignal>

#include <fmt/format.h>

#include "api/pod.h"

#include "cli/cluster/open_cluster.h"
#include "cli/jobs/dry_run.h"
#include "cli/jobs/job_follower.h"
#include "cli/jobs/job_view.h"
#include "cli/jobs/manifest.h"
#include "cli/jobs/submit.h"
#include "cli/print_error.h"
#include "cli/terminal/screen.h"
#include "cli/verbs/verbs.h"
#include "rt/scope.h"

namespace muster::cli {
namespace {

using std::chrono::seconds;

// What a person did to an attached run.
struct Interruption {
  explicit Interruption(rt::Loop& loop) : happened(loop) {}
  int count = 0;
  rt::Event happened;
};

Task<void> watch_signals(rt::RealLoop& loop, Interruption& interruption, JobFollower& follower) {
  rt::Signals signals(loop, {SIGINT, SIGTERM, SIGHUP});
  while (co_await signals.next()) {
    ++interruption.count;
    interruption.happened.pulse();
    follower.changed().pulse();
  }
}

std::string progress(const JobFollower& follower, const plan::Dialect& dialect,
                     const std::string& name, Duration age) {
  if (!follower.job()) return fmt::format(" {} starting", name);
  const JobView view = JobView::from(*follower.job(), dialect);
  std::string line = fmt::format(" {} {} {}  ranks {}/{}", name, view.state(), clock_time(age),
                                 view.ranks_ready, view.ranks);
  if (view.restarts > 0) line += fmt::format("  restarts {}", view.restarts);
  return line;
}

// The pod that can never start, as the reason to give up: an image without a command, say.
std::optional<std::string> hopeless(const JobFollower& follower) {
  for (const auto& [name, pod] : follower.pods()) {
    for (const json::Value& status : (*pod)["status"]["containerStatuses"].as_array()) {
      const json::Value& waiting = status["state"]["waiting"];
      if (waiting["reason"].as_string() == "CreateContainerConfigError" &&
          waiting["message"].as_string().find("images.yaml") != std::string::npos) {
        return fmt::format("pod {}: {}", name, waiting["message"].as_string());
      }
    }
  }
  return std::nullopt;
}

class AttachedRun {
 public:
  AttachedRun(Context& context, OpenCluster& target, const Manifest& job,
              cluster::ObjectPtr created)
      : context_(context),
        target_(target),
        dialect_(*job.dialect),
        key_(api::key_of(*created)),
        uid_(api::uid_of(*created)),
        screen_(Terminal::detect(context)),
        follower_(context, target.cluster(), dialect_, key_, uid_, screen_, {}),
        interruption_(context.loop),
        begun_(context.loop.monotonic()) {}

  Task<int> follow() {
    screen_.note(fmt::format("   Started  {} {} on {}", dialect_.identity().resource.kind,
                             key_.text(), target_.description()));
    rt::TaskScope scope(context_.loop);
    follower_.start();
    scope.spawn(watch_signals(context_.loop, interruption_, follower_));
    const int code = co_await until_over();
    co_await scope.close();
    co_await follower_.close();
    co_return code;
  }

 private:
  Task<int> until_over() {
    rt::Timer tick(context_.loop);
    while (true) {
      if (interruption_.count > 0) co_return co_await interrupted();
      if (follower_.gone()) {
        screen_.clear_status();
        print_error({.code = ErrorCode::NotFound,
                     .message = fmt::format("{} was deleted by somebody else", key_.text())});
        co_return exit_code::kOurs;
      }
      if (follower_.finished()) co_return co_await finish();
      if (const auto reason = hopeless(follower_)) co_return co_await give_up(*reason);
      tell_suspension();
      screen_.status(progress(follower_, dialect_, key_.name, context_.loop.monotonic() - begun_));
      tick.start(seconds(1), [this] { follower_.changed().pulse(); });
      if (!co_await follower_.changed().wait()) co_return exit_code::kOurs;
    }
  }

  // A suspended job may stay so for long: who waits should know what ends it.
  void tell_suspension() {
    if (!follower_.job()) return;
    const bool now = JobView::from(*follower_.job(), dialect_).phase == plan::Phase::Suspended;
    if (now == suspended_) return;
    suspended_ = now;
    screen_.note(now ? fmt::format(" Suspended  {}; to resume it set {} to false", key_.name,
                                   dialect_.identity().suspend_path)
                     : fmt::format("   Resumed  {}", key_.name));
  }

  Task<int> finish() {
    const cluster::ObjectPtr job = follower_.job();
    const JobView view = JobView::from(*job, dialect_);
    co_await wait_for_clean_up();
    co_await follower_.drain_logs(seconds(5));
    screen_.clear_status();
    const Duration age = context_.loop.monotonic() - begun_;
    if (view.phase == plan::Phase::Succeeded) {
      screen_.note(fmt::format(" Succeeded  {} in {} · {} ranks · {} restarts", key_.name,
                               clock_time(age), view.ranks, view.restarts));
    } else {
      screen_.note(
          fmt::format("    Failed  {} after {} — {}", key_.name, clock_time(age), view.message));
      screen_.note("");
      screen_.note(root_cause(view, key_.name));
    }
    co_return exit_code_for(view);
  }

  // What should go is gone before we say so. What a policy keeps running is stopped when the plane
  // is ours: it would have no control plane any more.
  Task<void> wait_for_clean_up() {
    const rt::Timer enough(context_.loop, seconds(60), [this] { follower_.changed().set(); });
    if (target_.owns_plane()) co_await stop_running();
    while (!follower_.gone() && !follower_.changed().is_set() && running() > 0) {
      if (!target_.owns_plane() && !anything_leaving()) co_return;
      if (interruption_.count > 1 || !co_await follower_.changed().wait()) co_return;
    }
  }

  Task<void> stop_running() {
    // The engine's own clean-up goes first; give its deletions a moment to be seen.
    for (int i = 0; i < 5 && running() > 0 && !anything_leaving(); ++i) {
      if (!co_await rt::sleep_for(context_.loop, std::chrono::milliseconds(20))) co_return;
    }
    const auto pods = follower_.pods();
    for (const auto& [name, pod] : pods) {
      if (api::is_deleting(*pod) || api::is_finished(api::phase_of(*pod))) continue;
      [[maybe_unused]] const auto removed = co_await target_.cluster().remove(
          api::pods(), api::key_of(*pod), {.uid = api::uid_of(*pod)});
    }
  }

  [[nodiscard]] int running() const {
    int count = 0;
    for (const auto& [name, pod] : follower_.pods()) {
      if (api::is_deleting(*pod) || !api::is_finished(api::phase_of(*pod))) ++count;
    }
    return count;
  }

  [[nodiscard]] bool anything_leaving() const {
    for (const auto& [name, pod] : follower_.pods()) {
      if (api::is_deleting(*pod)) return true;
    }
    return false;
  }

  Task<int> interrupted() {
    screen_.clear_status();
    screen_.note(fmt::format("  Stopping  {} (again to kill)", key_.name));
    co_await delete_and_wait({});
    co_await follower_.drain_logs(seconds(2));
    screen_.clear_status();
    screen_.note(fmt::format("   Stopped  {}: {} pods left", key_.name, follower_.pods().size()));
    co_return exit_code::kInterrupted;
  }

  Task<int> give_up(std::string reason) {
    screen_.clear_status();
    co_await delete_and_wait(0);
    print_error({.code = ErrorCode::Invalid, .message = std::move(reason)});
    co_return exit_code::kOurs;
  }

  Task<void> delete_and_wait(std::optional<int> grace) {
    const auto& resource = dialect_.identity().resource;
    auto removed = co_await target_.cluster().remove(resource, key_, {.uid = uid_});
    if (!removed && removed.error().code != ErrorCode::NotFound) print_error(removed.error());
    bool killed = false;
    while (!follower_.gone() || !follower_.pods().empty()) {
      if ((interruption_.count > 1 || grace == 0) && !killed) {
        killed = true;
        co_await kill_pods();
      }
      if (!co_await follower_.changed().wait()) co_return;
    }
  }

  Task<void> kill_pods() {
    const auto pods = follower_.pods();
    for (const auto& [name, pod] : pods) {
      [[maybe_unused]] const auto removed = co_await target_.cluster().remove(
          api::pods(), api::key_of(*pod), {.uid = api::uid_of(*pod), .grace_seconds = 1});
    }
  }

  Context& context_;
  OpenCluster& target_;
  const plan::Dialect& dialect_;
  api::ObjectKey key_;
  std::string uid_;
  Screen screen_;
  JobFollower follower_;
  Interruption interruption_;
  Monotonic begun_;
  bool suspended_ = false;
};

Task<int> submit_and_follow(Context& context, OpenCluster& target,
                            std::vector<Manifest> manifests) {
  auto submitted = co_await submit(context, target, manifests);
  if (!submitted) {
    print_error(submitted.error());
    co_return exit_code::kOurs;
  }
  int code = exit_code::kOk;
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    if (manifests[i].dialect == nullptr) continue;
    AttachedRun attached(context, target, manifests[i], submitted->at(i));
    const int ended = co_await attached.follow();
    if (code == exit_code::kOk) code = ended;
  }
  co_return code;
}

}  // namespace

Task<int> run(Context& context, RunOptions options) {
  auto manifests =
      load_manifests(options.files, context.registry, context.ns.empty() ? "default" : context.ns,
                     context.wants_cluster() ? TargetKind::Kubernetes : TargetKind::Embedded);
  if (!manifests) {
    print_error(manifests.error());
    co_return exit_code::kOurs;
  }
  if (options.dry_run) co_return print_planned(*manifests, options.output);
  auto target = co_await OpenCluster::open(context, PlaneParts::All);
  if (!target) {
    print_error(target.error());
    co_return exit_code::kOurs;
  }
  const int code = co_await submit_and_follow(context, **target, std::move(*manifests));
  co_await (*target)->close();
  co_return code;
}

}  // namespace muster::cli
