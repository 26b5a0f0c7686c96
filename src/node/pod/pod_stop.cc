#include <signal.h>

#include <algorithm>

#include "api/object.h"
#include "node/pod/pod_worker.h"

namespace muster::node {

namespace {

constexpr Duration kRetryKill = std::chrono::seconds(1);
// What is left for SIGTERM when preStop has used up the grace period.
constexpr Duration kLeastGrace = std::chrono::seconds(2);

}  // namespace

bool PodWorker::runs(const std::string& name, int attempt) const {
  const auto* container = record_.find(name);
  return container->running() && container->attempt == attempt;
}

// May be called again with a shorter grace period; never lengthens it.
void PodWorker::begin_stop_all(Duration grace) {
  const auto deadline = now() + grace;
  const bool shorter = stop_deadline_ && deadline < *stop_deadline_;
  if (!stop_deadline_ || shorter) stop_deadline_ = deadline;
  if (shorter) wake_.pulse();  // those that wait for the old deadline
  record_.stopping = true;
  for (const auto& container : record_.containers) {
    if (container.running()) begin_stop(container.name, container.attempt, grace);
  }
}

void PodWorker::begin_stop(const std::string& name, int attempt, Duration grace) {
  if (!stops_.insert({name, attempt}).second) return;
  event(EventSeverity::Normal, "Killing", "Stopping container " + name, name);
  scope_.spawn(stop_container(name, attempt, now() + grace));
}

Task<void> PodWorker::run_pre_stop(std::string name, int attempt, Time deadline) {
  const auto* spec = spec_of(name);
  std::vector<std::string> command;
  for (const auto& word : (*spec)["lifecycle"]["preStop"]["exec"]["command"].as_array()) {
    command.push_back(word.as_string());
  }
  const auto pause = (*spec)["lifecycle"]["preStop"]["sleep"]["seconds"].as_int();
  const auto left = deadline - now();
  if (left <= Duration::zero() || !runs(name, attempt)) co_return;
  if (pause > 0) {
    const auto nap = std::min<Duration>(left, std::chrono::seconds(pause));
    [[maybe_unused]] const auto slept = co_await rt::sleep_for(context_.loop, nap);
  }
  if (command.empty()) co_return;
  const auto result = co_await context_.runtime.exec(uid_, name, std::move(command), left);
  if (!result || result->timed_out || result->exit_code != 0) {
    event(EventSeverity::Warning, "FailedPreStopHook", "PreStopHook failed", name);
  }
}

Task<void> PodWorker::stop_container(std::string name, int attempt, Time deadline) {
  const auto limit = [this, deadline] {
    return stop_deadline_ ? std::min(deadline, *stop_deadline_) : deadline;
  };
  const bool has_hook = (*spec_of(name))["lifecycle"]["preStop"].is_object();
  if (has_hook) co_await run_pre_stop(name, attempt, limit());
  const auto least =
      has_hook && limit() - now() < kLeastGrace && deadline > Time{} ? now() + kLeastGrace : Time{};
  const bool at_once = !has_hook && limit() <= now();
  if (runs(name, attempt) && !at_once) {
    [[maybe_unused]] const auto signalled =
        co_await context_.runtime.signal_container(uid_, name, attempt, SIGTERM);
  }
  while (runs(name, attempt) && !scope_.stopping()) {
    const auto left = std::max(limit(), least) - now();
    if (left <= Duration::zero()) break;
    [[maybe_unused]] const auto waited =
        co_await rt::with_timeout(context_.loop, left, wake_.wait());
  }
  while (runs(name, attempt) && !scope_.stopping()) {
    [[maybe_unused]] const auto killed =
        co_await context_.runtime.kill_container(uid_, name, attempt);
    [[maybe_unused]] const auto waited =
        co_await rt::with_timeout(context_.loop, kRetryKill, wake_.wait());
  }
  stops_.erase({name, attempt});
}

}  // namespace muster::node
