#include "cli/jobs/attached_run.h"

#include <csignal>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "base/strings.h"
#include "cli/print_error.h"
#include "rt/scope.h"

namespace muster::cli {
namespace {

using std::chrono::seconds;

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

// What a pod is waiting for, where that is worth a line; empty: nothing.
std::string why_waiting(const json::Value& pod) {
  const json::Value& placed = api::condition_of(pod, "PodScheduled");
  const std::string& message = placed["message"].as_string();
  const bool gang = message.starts_with("waiting for the gang");  // its peers are on their way
  if (placed["status"].as_string() == "False") return gang ? "" : message;
  for (const json::Value& status : pod["status"]["containerStatuses"].as_array()) {
    const json::Value& waiting = status["state"]["waiting"];
    if (waiting["reason"].as_string() == "ContainerCreating") return waiting["message"].as_string();
  }
  return "";
}

}  // namespace

Task<void> watch_signals(rt::RealLoop& loop, Interruption& interruption) {
  rt::Signals signals(loop, {SIGINT, SIGTERM, SIGHUP});
  while (co_await signals.next()) {
    ++interruption.count;
    interruption.happened.pulse();
  }
}

AttachedRun::AttachedRun(Context& context, OpenCluster& target, Screen& screen,
                         Interruption& interruption, Followed followed)
    : context_(context),
      target_(target),
      screen_(screen),
      interruption_(interruption),
      followed_(std::move(followed)),
      lines_(screen, {}),
      follower_(
          context, target.cluster(), followed_, lines_,
          {.first_run = true, .note = [&screen](const std::string& text) { screen.note(text); }}),
      begun_(context.loop.monotonic()) {}

Task<int> AttachedRun::follow() {
  screen_.note(fmt::format("   Started  {} {} on {}", followed_.resource.kind, followed_.key.text(),
                           target_.description()));
  rt::TaskScope scope(context_.loop);
  follower_.start();
  scope.spawn(relay_interruptions());
  const int code = co_await until_over();
  co_await scope.close();
  co_await follower_.close();
  co_return code;
}

Task<void> AttachedRun::relay_interruptions() {
  while (co_await interruption_.happened.wait()) follower_.changed().pulse();
}

StatusLine AttachedRun::progress() const {
  const Duration age = context_.loop.monotonic() - begun_;
  if (!follower_.job()) return {" ", followed_.key.name, " starting"};
  const JobView view = followed_.view(*follower_.job());
  std::string how = fmt::format(" {} {}  ranks {}/{}", view.state(), clock_time(age),
                                view.ranks_ready, view.ranks);
  if (view.restarts > 0) how += fmt::format("  restarts {}", view.restarts);
  return {" ", followed_.key.name, how};
}

Task<int> AttachedRun::until_over() {
  rt::Timer tick(context_.loop);
  while (true) {
    if (interruption_.count > 0) co_return co_await interrupted();
    if (follower_.gone()) {
      screen_.clear_status();
      print_error(context_.output, {.code = ErrorCode::NotFound,
                                    .message = fmt::format("{} was deleted by somebody else",
                                                           followed_.key.text())});
      co_return exit_code::kOurs;
    }
    if (follower_.finished()) co_return co_await finish();
    if (const auto reason = hopeless(follower_)) co_return co_await give_up(*reason);
    tell_suspension();
    tell_waiting();
    screen_.status({progress()});
    tick.start(seconds(1), [this] { follower_.changed().pulse(); });
    if (!co_await follower_.changed().wait()) co_return exit_code::kOurs;
  }
}

// A suspended job may stay so for long: who waits should know what ends it.
void AttachedRun::tell_suspension() {
  if (!follower_.job()) return;
  const bool now = followed_.view(*follower_.job()).phase == plan::Phase::Suspended;
  if (now == suspended_) return;
  suspended_ = now;
  screen_.note(now ? fmt::format(" Suspended  {}; to go on: muster resume {}", followed_.key.name,
                                 followed_.key.name)
                   : fmt::format("   Resumed  {}", followed_.key.name));
}

Task<int> AttachedRun::finish() {
  const cluster::ObjectPtr job = follower_.job();
  const JobView view = followed_.view(*job);
  co_await wait_for_clean_up();
  co_await follower_.drain_logs(seconds(5));
  screen_.clear_status();
  const Duration age = context_.loop.monotonic() - begun_;
  if (view.phase == plan::Phase::Succeeded) {
    screen_.note(fmt::format(" Succeeded  {} in {} · {} ranks · {} restarts", followed_.key.name,
                             clock_time(age), view.ranks, view.restarts));
  } else {
    screen_.note(fmt::format("    Failed  {} after {} — {}", followed_.key.name, clock_time(age),
                             view.message));
    screen_.note("");
    screen_.note(root_cause(view, followed_.key.name));
  }
  if (const auto lost = follower_.lost_files().sentence()) {
    screen_.note(fmt::format("      Lost  {}", *lost));
  }
  co_return exit_code_for(view);
}

// What should go is gone before we say so. What a policy keeps running is stopped when the plane
// is ours: it would have no control plane any more.
Task<void> AttachedRun::wait_for_clean_up() {
  const rt::Timer enough(context_.loop, seconds(60), [this] { follower_.changed().set(); });
  if (target_.is_temporary()) co_await stop_running();
  while (!follower_.gone() && !follower_.changed().is_set() && running() > 0) {
    if (!target_.is_temporary() && !anything_leaving()) co_return;
    if (interruption_.count > 1 || !co_await follower_.changed().wait()) co_return;
  }
}

Task<void> AttachedRun::stop_running() {
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

int AttachedRun::running() const {
  int count = 0;
  for (const auto& [name, pod] : follower_.pods()) {
    if (api::is_deleting(*pod) || !api::is_finished(api::phase_of(*pod))) ++count;
  }
  return count;
}

bool AttachedRun::anything_leaving() const {
  for (const auto& [name, pod] : follower_.pods()) {
    if (api::is_deleting(*pod)) return true;
  }
  return false;
}

Task<int> AttachedRun::interrupted() {
  screen_.clear_status();
  screen_.note(fmt::format("  Stopping  {} (again to kill)", followed_.key.name));
  co_await delete_and_wait({});
  co_await follower_.drain_logs(seconds(2));
  screen_.clear_status();
  screen_.note(
      fmt::format("   Stopped  {}: {} pods left", followed_.key.name, follower_.pods().size()));
  co_return exit_code::kInterrupted;
}

Task<int> AttachedRun::give_up(std::string reason) {
  screen_.clear_status();
  co_await delete_and_wait(0);
  print_error(context_.output, {.code = ErrorCode::Invalid, .message = std::move(reason)});
  co_return exit_code::kOurs;
}

Task<void> AttachedRun::delete_and_wait(std::optional<int> grace) {
  auto removed =
      co_await target_.cluster().remove(followed_.resource, followed_.key, {.uid = followed_.uid});
  if (!removed && removed.error().code != ErrorCode::NotFound)
    print_error(context_.output, removed.error());
  bool killed = false;
  while (!follower_.gone() || !follower_.pods().empty()) {
    if ((interruption_.count > 1 || grace == 0) && !killed) {
      killed = true;
      co_await kill_pods();
    }
    if (!co_await follower_.changed().wait()) co_return;
  }
}

Task<void> AttachedRun::kill_pods() {
  const auto pods = follower_.pods();
  for (const auto& [name, pod] : pods) {
    [[maybe_unused]] const auto removed = co_await target_.cluster().remove(
        api::pods(), api::key_of(*pod), {.uid = api::uid_of(*pod), .grace_seconds = 1});
  }
}

// What keeps a pod from starting, once for each sentence: a claim that is missing, say.
void AttachedRun::tell_waiting() {
  for (const auto& [name, pod] : follower_.pods()) {
    const std::string message = why_waiting(*pod);
    if (!message.empty() && told_.insert(message).second)
      screen_.note(fmt::format("   Waiting  pod {}: {}", name, printable(message)));
  }
}

}  // namespace muster::cli
