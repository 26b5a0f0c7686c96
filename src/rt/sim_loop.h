#pragma once

#include <deque>
#include <map>

#include "base/random.h"
#include "rt/loop.h"
#include "rt/real_loop.h"

namespace muster::rt {

// A loop in virtual time: nothing waits, the next timer is always now. Same seed, same order.
class SimLoop final : public Loop {
 public:
  explicit SimLoop(Time start) : clock_(start) {}

  void post(Callback callback) override { ready_.push_back(std::move(callback)); }
  void post_from_thread(Callback callback) override { post(std::move(callback)); }
  TimerId schedule(Monotonic at, Callback callback) override;
  void cancel(TimerId timer) override;
  [[nodiscard]] const Clock& clock() const override { return clock_; }

  // Runs one callback; with none ready, moves time to the next timer. False when there is nothing
  // left.
  bool step();
  // Runs what is ready now, without moving time.
  void drain();
  // Runs until nothing is ready and no timer is due before `until`.
  void run_for(Duration duration);
  // Runs the task to its end; CHECKs that it does not starve.
  template <class T>
  T run(Task<T> task);
  [[nodiscard]] std::size_t timers() const { return timers_.size(); }

 private:
  class VirtualClock final : public Clock {
   public:
    explicit VirtualClock(Time start) : start_(start) {}
    [[nodiscard]] Time now() const override { return start_ + elapsed_; }
    [[nodiscard]] Monotonic monotonic() const override { return {elapsed_}; }
    void move_to(Monotonic at) { elapsed_ = std::max(elapsed_, at.since_start); }

   private:
    Time start_;
    Duration elapsed_{};
  };

  VirtualClock clock_;
  std::deque<Callback> ready_;
  std::map<std::pair<Monotonic, TimerId>, Callback> timers_;
  std::map<TimerId, Monotonic> due_;
  TimerId last_timer_ = 0;
};

template <class T>
T SimLoop::run(Task<T> task) {
  bool done = false;
  if constexpr (std::is_void_v<T>) {
    post([handle = detail::drive_root(std::move(task), done).handle] { handle.resume(); });
    while (!done) CHECK(step());
  } else {
    std::optional<T> out;
    post([handle = detail::drive_root(std::move(task), out, done).handle] { handle.resume(); });
    while (!done) CHECK(step());
    return std::move(*out);
  }
}

}  // namespace muster::rt
