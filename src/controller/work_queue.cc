#include "controller/work_queue.h"

#include <algorithm>

namespace muster::controller {

void WorkQueue::add(const std::string& key) {
  if (working_.contains(key)) {
    again_.insert(key);
    return;
  }
  if (!queued_.insert(key).second) return;
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
  queued_.erase(key);
  working_.insert(key);
  // There may be more for the other workers, who were woken by the same pulse or not at all.
  if (!queue_.empty()) ready_.pulse();
  co_return key;
}

void WorkQueue::done(const std::string& key) {
  working_.erase(key);
  if (again_.erase(key) > 0) add(key);
}

}  // namespace muster::controller
