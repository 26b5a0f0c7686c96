#include "node/pod/stopper.h"

#include <signal.h>

#include <algorithm>

#include "node/pod/hooks.h"

namespace muster::node {

namespace {

constexpr Duration kRetryKill = std::chrono::seconds(1);
// What is left for SIGTERM when preStop has used up the grace period.
constexpr Duration kLeastGrace = std::chrono::seconds(2);

}  // namespace

void PodStopper::stop_all(Duration grace) {
  const auto deadline = subject_.now() + grace;
  const bool shorter = deadline_ && deadline < *deadline_;
  if (!deadline_ || shorter) deadline_ = deadline;
  if (shorter) subject_.changed.pulse();  // those that wait for the old deadline
  for (const auto& container : subject_.facts.containers) {
    if (container.running()) stop(container.name, container.attempt, grace);
  }
}

void PodStopper::stop(const std::string& name, int attempt, Duration grace) {
  if (!under_way_.insert({name, attempt}).second) return;
  subject_.event(EventSeverity::Normal, "Killing", "Stopping container " + name, name);
  subject_.scope.spawn(run(name, attempt, subject_.now() + grace));
}

Time PodStopper::limit(Time deadline) const {
  return deadline_ ? std::min(deadline, *deadline_) : deadline;
}

bool PodStopper::goes_on(const std::string& name, int attempt) const {
  return subject_.facts.runs(name, attempt) && !subject_.scope.stopping();
}

Task<void> PodStopper::run_pre_stop(std::string name, int attempt, Time deadline) {
  const auto left = deadline - subject_.now();
  if (left <= Duration::zero() || !subject_.facts.runs(name, attempt)) co_return;
  const auto result =
      co_await run_hook(subject_, name, subject_.spec_of(name)["lifecycle"]["preStop"], left);
  if (!result)
    subject_.event(EventSeverity::Warning, "FailedPreStopHook", "PreStopHook failed", name);
}

Task<void> PodStopper::run(std::string name, int attempt, Time deadline) {
  auto& runtime = subject_.node.runtime;
  const bool has_hook = subject_.spec_of(name)["lifecycle"]["preStop"].is_object();
  if (has_hook) co_await run_pre_stop(name, attempt, limit(deadline));
  const bool hook_used_it_up = has_hook && limit(deadline) - subject_.now() < kLeastGrace;
  const auto least = hook_used_it_up && deadline > Time{} ? subject_.now() + kLeastGrace : Time{};
  const bool at_once = !has_hook && limit(deadline) <= subject_.now();
  if (subject_.facts.runs(name, attempt) && !at_once) {
    [[maybe_unused]] const auto signalled =
        co_await runtime.signal_container(subject_.uid, name, attempt, SIGTERM);
  }
  while (goes_on(name, attempt)) {
    const auto left = std::max(limit(deadline), least) - subject_.now();
    if (left <= Duration::zero()) break;
    [[maybe_unused]] const auto waited =
        co_await rt::with_timeout(subject_.node.loop, left, subject_.changed.wait());
  }
  while (goes_on(name, attempt)) {
    [[maybe_unused]] const auto killed =
        co_await runtime.kill_container(subject_.uid, name, attempt);
    [[maybe_unused]] const auto waited =
        co_await rt::with_timeout(subject_.node.loop, kRetryKill, subject_.changed.wait());
  }
  under_way_.erase({name, attempt});
}

}  // namespace muster::node
