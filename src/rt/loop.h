#pragma once

#include <cstdint>
#include <functional>

#include "base/time.h"

namespace muster::rt {

using Callback = std::move_only_function<void()>;
using TimerId = std::uint64_t;

// One thread's worth of callbacks and timers. Everything mutable in a process lives on one loop.
// RealLoop runs against the machine, SimLoop in virtual time; code sees only this.
class Loop {
 public:
  virtual ~Loop() = default;

  // Runs the callback later, in order. Only from the loop's own thread.
  virtual void post(Callback callback) = 0;
  // The same from any thread.
  virtual void post_from_thread(Callback callback) = 0;
  // Runs the callback once at or after the moment; cancelling a timer that fired does nothing.
  virtual TimerId schedule(Monotonic at, Callback callback) = 0;
  virtual void cancel(TimerId timer) = 0;
  [[nodiscard]] virtual const Clock& clock() const = 0;

  [[nodiscard]] Time now() const { return clock().now(); }
  [[nodiscard]] Monotonic monotonic() const { return clock().monotonic(); }
};

// A timer that is cancelled with its owner.
class Timer {
 public:
  explicit Timer(Loop& loop) : loop_(loop) {}
  Timer(Loop& loop, Duration after, Callback callback) : loop_(loop) {
    start(after, std::move(callback));
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { cancel(); }

  // Replaces what was scheduled before.
  void start(Duration after, Callback callback) {
    cancel();
    id_ =
        loop_.schedule(loop_.monotonic() + after, [this, callback = std::move(callback)]() mutable {
          id_ = 0;
          // The callback may destroy or restart this timer, so it must not be a part of it any
          // more.
          auto run = std::move(callback);
          run();
        });
  }
  void cancel() {
    if (id_ != 0) loop_.cancel(std::exchange(id_, 0));
  }
  [[nodiscard]] bool active() const { return id_ != 0; }

 private:
  Loop& loop_;
  TimerId id_ = 0;
};

}  // namespace muster::rt
