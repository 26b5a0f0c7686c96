#include "controller/work_queue.h"

#include <algorithm>

namespace muster::controller {

void WorkQueue::add(const std::string& key) {
  if (working_.contains(key)) {
    again_.insert(key);
    return;
  }
  if (!queued_.emplace(key, loop_.monotonic()).second) return;
  ++added_;
  queue_.push_back(key);
  ready_.pulse();
}

void WorkQueue::add_after(const std::string& key, Duration delay) {
  if (delay <= Duration::zero()) {
    add(key);
    return;
  }
  const Monotonic at = loop_.monotonic() + delay;
  auto& entry = delayed_[key];
  if (entry.timer && entry.timer->active() && entry.at <= at) return;
  entry.at = at;
  entry.timer = std::make_unique<rt::Timer>(loop_, delay, [this, key] {
    // The timer is a part of the entry; let it finish before the entry goes.
    const auto finished = delayed_.extract(key);
    add(key);
  });
}

void WorkQueue::add_failed(const std::string& key) {
  ++retried_;
  const int doublings = std::min(failures_[key]++, 11);
  const Duration longest = std::min<Duration>(std::chrono::milliseconds(50) * (1 << doublings),
                                              std::chrono::seconds(60));
  add_after(key, std::chrono::duration_cast<Duration>(longest * (0.5 + 0.5 * rng_.unit())));
}

Task<Result<std::string>> WorkQueue::next() {
  // With work left nobody would wait, and a stopped worker would go on for ever.
  if ((co_await rt::current_stop()).stop_requested())
    co_return fail(ErrorCode::Cancelled, "stopped");
  while (queue_.empty()) CO_TRY(co_await ready_.wait());
  std::string key = std::move(queue_.front());
  queue_.pop_front();
  const Monotonic now = loop_.monotonic();
  waited_.record(now - queued_.extract(key).mapped());
  working_.emplace(key, now);
  // There may be more for the other workers, who were woken by the same pulse or not at all.
  if (!queue_.empty()) ready_.pulse();
  co_return key;
}

void WorkQueue::done(const std::string& key) {
  working_.erase(key);
  if (again_.erase(key) > 0) add(key);
}

void WorkQueue::append_figures(std::string& out) const {
  using exposition::Type;
  constexpr std::string_view kQueue = "muster";
  const Monotonic now = loop_.monotonic();
  const auto figure = [&](std::string_view name, Type type, std::string_view help, auto value) {
    exposition::open(out, name, type, help);
    exposition::sample(out, name, {{"name", kQueue}}, value);
  };
  figure("workqueue_depth", Type::Gauge, "Jobs that wait to be looked at.", queue_.size());
  figure("workqueue_adds_total", Type::Counter, "Jobs put into the queue.", added_);
  figure("workqueue_retries_total", Type::Counter, "Looks that failed and are tried again.",
         retried_);
  Duration longest{};
  for (const auto& [key, since] : working_) longest = std::max(longest, now - since);
  figure("workqueue_longest_running_processor_seconds", Type::Gauge,
         "How long the oldest look has been under way.", exposition::seconds(longest));
  // In the order they came: the first has waited longest.
  const Duration oldest = queue_.empty() ? Duration{} : now - queued_.at(queue_.front());
  figure("muster_workqueue_oldest_seconds", Type::Gauge,
         "How long the first in the queue has waited.", exposition::seconds(oldest));
  exposition::open(out, "workqueue_queue_duration_seconds", Type::Histogram,
                   "How long jobs waited in the queue.");
  waited_.append(out, "workqueue_queue_duration_seconds", {{"name", kQueue}});
}

}  // namespace muster::controller
