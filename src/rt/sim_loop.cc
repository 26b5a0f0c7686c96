#include "rt/sim_loop.h"

namespace muster::rt {

TimerId SimLoop::schedule(Monotonic at, Callback callback) {
  const TimerId id = ++last_timer_;
  timers_.emplace(std::pair(at, id), std::move(callback));
  due_.emplace(id, at);
  return id;
}

void SimLoop::cancel(TimerId timer) {
  const auto found = due_.find(timer);
  if (found == due_.end()) return;
  timers_.erase(std::pair(found->second, timer));
  due_.erase(found);
}

bool SimLoop::step() {
  if (ready_.empty()) {
    if (timers_.empty()) return false;
    const auto first = timers_.begin();
    clock_.move_to(first->first.first);
    ready_.push_back(std::move(first->second));
    due_.erase(first->first.second);
    timers_.erase(first);
  }
  Callback next = std::move(ready_.front());
  ready_.pop_front();
  next();
  return true;
}

void SimLoop::drain() {
  while (!ready_.empty()) step();
}

void SimLoop::run_for(Duration duration) {
  const Monotonic until = clock_.monotonic() + duration;
  while (!ready_.empty() || (!timers_.empty() && timers_.begin()->first.first <= until)) step();
  clock_.move_to(until);
}

}  // namespace muster::rt
