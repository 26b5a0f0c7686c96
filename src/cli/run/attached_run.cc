#include "cli/run/attached_run.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "api/object.h"
#include "api/pod.h"
#include "api/waiting.h"
#include "base/strings.h"
#include "cli/jobs/listing.h"
#include "cli/jobs/wait_deleted.h"
#include "cli/print_error.h"
#include "cli/run/last_word.h"
#include "cli/run/operator_missing.h"
#include "cli/run/ranks.h"
#include "rt/scope.h"

namespace muster::cli {
namespace {

using std::chrono::seconds;
using Ended = RunResult::Ended;

// How long a cluster may take until somebody has looked at a job.
constexpr Duration kOperatorPatience = seconds(5);
constexpr std::size_t kLastLines = 8;
// A full disk has room from one second to the next.
constexpr Duration kAskAgain = seconds(1);
// So many are looked at 20 times a second at most: 1,000 pods × ~2 µs ≈ 2 ms each time.
constexpr std::size_t kManyPods = 100;
constexpr Duration kPause = std::chrono::milliseconds(50);

bool is_running(const json::Value& pod) {
  return api::is_deleting(pod) || !api::is_finished(api::phase_of(pod));
}

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Notes go to standard error, which may be a terminal where standard output is none.
bool shows_red(const Context& context, const Terminal& terminal) {
  if (context.color == "always") return true;
  if (context.color == "never" || !context.env("NO_COLOR").empty()) return false;
  return terminal.err_is_terminal || !context.env("FORCE_COLOR").empty() ||
         !context.env("CLICOLOR_FORCE").empty();
}

// "No room. Ask for less.": what it waits for, and what would unblock it.
std::string with_remedy(const Waiting& waiting) {
  std::string text = printable(waiting.message);
  if (waiting.remedy.empty()) return text;
  if (!text.ends_with('.')) text += '.';
  std::string remedy = waiting.remedy;
  remedy[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(remedy[0])));
  return fmt::format("{} {}.", text, remedy);
}

}  // namespace

AttachedRun::AttachedRun(Attachment& attachment, Followed followed)
    : shared_(attachment),
      followed_(std::move(followed)),
      lines_(attachment.screen, {.job = attachment.several ? followed_.key.name : ""}),
      output_(lines_),
      follower_(attachment.context, attachment.target.cluster(), followed_, output_,
                {.first_run = true,
                 .note = [&attachment](const std::string& text) { attachment.screen.note(text); }}),
      begun_(attachment.context.loop.monotonic()) {
  result_.resource = followed_.resource;
  result_.key = followed_.key;
  result_.uid = followed_.uid;
}

Task<void> AttachedRun::follow() {
  rt::TaskScope scope(shared_.context.loop);
  follower_.start();
  scope.spawn(relay_interruptions());
  if (followed_.dialect != nullptr && !shared_.target.is_local())
    scope.spawn(look_for_an_operator());
  co_await until_over();
  co_await scope.close();
  co_await follower_.close();
  over_ = true;
  shared_.changed.pulse();
}

Task<void> AttachedRun::relay_interruptions() {
  while (co_await shared_.interruption.happened.wait()) follower_.changed().pulse();
}

// A job that nobody looks at would be waited for in vain.
Task<void> AttachedRun::look_for_an_operator() {
  const plan::Dialect& dialect = *followed_.dialect;
  if (!co_await rt::sleep_for(shared_.context.loop, kOperatorPatience)) co_return;
  const cluster::ObjectPtr job = follower_.job();
  const bool ours = !dialect.identity().embedded_only && job && dialect.manages(*job);
  if (!ours || !(*job)["status"].as_object().empty()) co_return;
  const bool led =
      co_await has_leader(shared_.target.cluster(), dialect, shared_.context.loop.now());
  if (led || !follower_.job() || !(*follower_.job())["status"].as_object().empty()) co_return;
  shared_.screen.note(fmt::format(
      "   Waiting  {}: nobody has looked at it for 5 s, so no operator for {} seems to run on {}; "
      "start one: {}   or install it: kubectl apply --server-side -f deploy/install.yaml",
      name(), followed_.resource.qualified(), shared_.target.description(),
      shared_.context.command("operator")));
}

std::optional<Waiting> AttachedRun::waiting() const {
  return follower_.job() ? why_waiting(*follower_.job(), pods()) : why_waiting(pods());
}

std::vector<cluster::ObjectPtr> AttachedRun::pods() const {
  std::vector<cluster::ObjectPtr> all;
  for (const auto& [name, pod] : follower_.pods()) all.push_back(pod);
  return all;
}

JobView AttachedRun::view() const {
  if (!follower_.job()) return {};
  JobView now = followed_.view(*follower_.job());
  now.see(pods());
  return now;
}

StatusLine AttachedRun::progress() const {
  const Duration age = shared_.context.loop.monotonic() - begun_;
  const JobView now = view();
  std::string text = fmt::format(" {} {}", now.state(), clock_time(age));
  if (now.ranks > 0) text += fmt::format("  ranks {}/{}", now.ranks_ready, now.ranks);
  if (now.restarts > 0) text += fmt::format("  restarts {}", now.restarts);
  if (const auto why = waiting()) {
    const Time today = shared_.context.loop.now();
    const std::string since =
        why->since ? fmt::format(" for {}", format_age(today - *why->since)) : "";
    text += fmt::format("  {}{}: {}", why->reason, since, printable(why->message));
  }
  return {" ", name(), std::move(text)};
}

// A pod that can never start as it is; or not on this machine, which nobody keeps up for its sake.
std::optional<Waiting> AttachedRun::hopeless() const {
  auto waiting = why_waiting(pods());
  if (!waiting || !waiting->for_ever) return std::nullopt;
  const bool elsewhere = waiting->reason == api::cannot_start::kNeverFits;
  if (elsewhere && !shared_.target.is_temporary()) return std::nullopt;
  return waiting;
}

Task<void> AttachedRun::until_over() {
  while (true) {
    shared_.changed.pulse();
    if (shared_.interruption.detached) co_return ended(Ended::Detached, exit_code::kOk);
    if (shared_.interruption.count > 0) co_return co_await stop();
    if (auto end = last_word(followed_, follower_)) co_return co_await finish(std::move(*end));
    if (follower_.gone()) co_return was_deleted();
    if (auto waiting = hopeless()) co_return co_await give_up(std::move(*waiting));
    tell_changes();
    tell_waiting();
    if (!co_await follower_.changed().wait()) co_return;
    // Looking at all pods after each of their events would be quadratic.
    if (follower_.pods().size() > kManyPods &&
        !co_await rt::sleep_for(shared_.context.loop, kPause))
      co_return;
  }
}

void AttachedRun::tell_changes() {
  if (!follower_.job()) return;
  const JobView now = view();
  if (!started_ && now.phase == plan::Phase::Running) {
    started_ = true;
    shared_.screen.note(fmt::format("   Started  {} · {}", name(), counted(now.ranks, "rank")));
  }
  // A suspended job may stay so for long: who waits should know what ends it.
  const bool held = now.phase == plan::Phase::Suspended;
  if (held == suspended_) return;
  suspended_ = held;
  shared_.screen.note(held ? fmt::format(" Suspended  {}; to go on: {}", name(),
                                         shared_.context.command("resume " + name()))
                           : fmt::format("   Resumed  {}", name()));
}

// What keeps pods from starting, once for each reason. That the pods of a gang are still being made
// is none.
void AttachedRun::tell_waiting() {
  const auto why = waiting();
  if (!why || why->reason == api::not_placed::kGangIncomplete) return;
  if (!told_.insert(why->reason + why->node).second) return;
  shared_.screen.note(fmt::format("   Waiting  {} ({} of its pods, {}): {}", name(), why->pods,
                                  why->reason, with_remedy(*why)));
}

Task<void> AttachedRun::finish(JobView view) {
  const auto& cause = view.ledger.cause;
  const bool failed = view.phase == plan::Phase::Failed;
  result_.view = view;
  co_await wait_for_clean_up();
  co_await follower_.drain_logs(seconds(5));
  if (failed) {
    result_.notes.stopped = stopped_ranks(follower_.last_seen(), cause ? cause->pod : "");
    result_.notes.deadline = deadline_of(*follower_.job());
    result_.notes.again = shared_.origin.again;
    if (cause) result_.notes.last_lines = output_.of(cause->pod, kLastLines);
  }
  ended(failed ? Ended::Failed : Ended::Succeeded, exit_code_for(view),
        failed ? failure_sentence(view, result_.notes) : "");
  tell_end();
  if (const auto lost = follower_.lost_files().sentence())
    shared_.screen.note(fmt::format("      Lost  {}", *lost));
}

void AttachedRun::tell_end() {
  const std::string took = clock_time(result_.took);
  const JobView& view = result_.view;
  if (result_.ended == Ended::Succeeded) {
    shared_.screen.note(fmt::format(" Succeeded  {} in {} · {} · {}", name(), took,
                                    counted(view.ranks, "rank"),
                                    counted(view.restarts, "restart")));
    return;
  }
  const std::string head =
      fmt::format("    Failed  {} after {} — {}", name(), took, result_.message);
  shared_.screen.note(
      shows_red(shared_.context, shared_.screen.terminal()) ? "\x1b[31m" + head + "\x1b[0m" : head);
  shared_.screen.note("");
  shared_.screen.note(root_cause(shared_.context, view, name(), result_.notes));
}

// What should go is gone before we say so. What a policy keeps running of ours is stopped when the
// plane is a temporary one, which would stay for it. So is a pod that nothing would ever end.
Task<void> AttachedRun::wait_for_clean_up() {
  const bool endless = followed_.dialect == nullptr && outlives_its_run(*follower_.job());
  if (endless) {
    shared_.screen.note(fmt::format(
        "  Stopping  {}: its restartPolicy is Always, which would start it again for ever",
        name()));
    co_return co_await delete_and_wait(How::Gently);
  }
  const bool stops = shared_.origin.ours && shared_.target.is_temporary();
  if (stops) co_await stop_running();
  bool late = false;
  const rt::Timer enough(shared_.context.loop, seconds(60), [this, &late] {
    late = true;
    follower_.changed().pulse();
  });
  const auto leaving = [](const auto& entry) { return api::is_deleting(*entry.second); };
  const auto running = [](const auto& entry) { return is_running(*entry.second); };
  while (!follower_.gone() && !late && std::ranges::any_of(follower_.pods(), running)) {
    if (!stops && std::ranges::none_of(follower_.pods(), leaving)) co_return;
    if (shared_.interruption.count > 1 || shared_.interruption.detached) co_return;
    if (!co_await follower_.changed().wait()) co_return;
  }
}

// The job and its pods are watched separately: what we saw of a pod may be older than the end that
// its job was given because of it, and one that has ended stays.
Task<void> AttachedRun::stop_running() {
  const auto now = co_await list_all(shared_.target.cluster(), api::pods(), followed_.pods);
  if (!now) co_return;
  for (const auto& pod : *now) {
    if (api::is_deleting(*pod) || api::is_finished(api::phase_of(*pod))) continue;
    [[maybe_unused]] const auto removed = co_await shared_.target.cluster().remove(
        api::pods(), api::key_of(*pod), {.uid = api::uid_of(*pod)});
  }
}

Task<void> AttachedRun::stop() {
  co_await delete_and_wait(How::Gently);
  co_await follower_.drain_logs(seconds(2));
  ended(Ended::Stopped, exit_code::kInterrupted, "stopped by an interruption");
  shared_.screen.note(fmt::format("   Stopped  {}: {} pods left", name(), follower_.pods().size()));
}

Task<void> AttachedRun::give_up(Waiting waiting) {
  if (shared_.origin.ours) co_await delete_and_wait(How::AtOnce);
  ended(Ended::Refused, exit_code::kOurs, with_remedy(waiting));
  shared_.screen.clear_status();
  print_error(shared_.context.output,
              {.code = ErrorCode::Invalid,
               .message = fmt::format("{} cannot run here: {}", name(), result_.message)});
}

void AttachedRun::was_deleted() {
  ended(Ended::Deleted, exit_code::kOurs,
        fmt::format("{} was deleted by somebody else", followed_.key.text()));
  shared_.screen.clear_status();
  print_error(shared_.context.output, {.code = ErrorCode::NotFound, .message = result_.message});
}

// Whether it is taken to be deleted; why not is said once.
Task<bool> AttachedRun::ask_to_delete(bool& told) {
  const auto removed = co_await shared_.target.cluster().remove(followed_.resource, followed_.key,
                                                                {.uid = followed_.uid});
  if (removed || removed.error().code == ErrorCode::NotFound) co_return true;
  if (!std::exchange(told, true)) print_error(shared_.context.output, removed.error());
  // Anything else would be answered in the same way again.
  co_return removed.error().code != ErrorCode::InsufficientStorage;
}

Task<void> AttachedRun::delete_and_wait(How how) {
  bool told = false;
  bool killed = false;
  bool asked = co_await ask_to_delete(told);
  const rt::Timer late(shared_.context.loop, kCollectorPatience, [this] { tell_of_collector(); });
  while (!shared_.interruption.is_final() && (!follower_.gone() || !follower_.pods().empty())) {
    if (!asked) {
      if (shared_.interruption.count > 1) co_return;  // it stays, and nobody would wait for that
      [[maybe_unused]] const auto news =
          co_await rt::with_timeout(shared_.context.loop, kAskAgain, follower_.changed().wait());
      asked = co_await ask_to_delete(told);
      continue;
    }
    if ((shared_.interruption.count > 1 || how == How::AtOnce) && !killed) {
      killed = true;
      co_await kill_pods();
      continue;  // the last may have gone meanwhile
    }
    if (!co_await follower_.changed().wait()) co_return;
  }
}

// Pods that nobody has asked to go although their job is gone. On this machine there are none.
void AttachedRun::tell_of_collector() {
  const auto unasked = std::ranges::count_if(
      follower_.pods(), [](const auto& one) { return !api::is_deleting(*one.second); });
  if (unasked == 0 || !follower_.gone() || shared_.target.is_local()) return;
  shared_.screen.note("   Waiting  " +
                      waits_for_collector(name(), static_cast<std::size_t>(unasked)));
}

Task<void> AttachedRun::kill_pods() {
  const auto now = follower_.pods();
  for (const auto& [name, pod] : now) {
    [[maybe_unused]] const auto removed = co_await shared_.target.cluster().remove(
        api::pods(), api::key_of(*pod), {.uid = api::uid_of(*pod), .grace_seconds = 1});
  }
}

void AttachedRun::ended(Ended how, int code, std::string message) {
  result_.ended = how;
  result_.exit_code = code;
  result_.message = std::move(message);
  result_.took = shared_.context.loop.monotonic() - begun_;
  if (how != Ended::Detached) result_.finished = shared_.context.loop.now();
  if (!follower_.job()) return;
  result_.created = api::creation_time_of(*follower_.job());
  if (how != Ended::Succeeded && how != Ended::Failed) result_.view = view();
}

}  // namespace muster::cli
