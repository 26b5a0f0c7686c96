#pragma once

#include "rt/sim_loop.h"

namespace muster::cluster {

// A simulated machine whose two clocks can be set apart: it sleeps, is paused, its wall clock is
// set. Timers are the simulated loop's, so they sleep along.
class TwoClockLoop final : public rt::Loop {
 public:
  explicit TwoClockLoop(rt::SimLoop& loop) : loop_(loop), clock_(loop) {}

  void post(rt::Callback callback) override { loop_.post(std::move(callback)); }
  void post_from_thread(rt::Callback callback) override { loop_.post(std::move(callback)); }
  rt::TimerId schedule(Monotonic at, rt::Callback callback) override {
    return loop_.schedule(loop_.monotonic() + (at - monotonic()), std::move(callback));
  }
  void cancel(rt::TimerId timer) override { loop_.cancel(timer); }
  [[nodiscard]] const Clock& clock() const override { return clock_; }

  // Both clocks go on, nothing runs: what CLOCK_BOOTTIME says after a sleep.
  void sleep(Duration duration) {
    clock_.monotonic_ahead += duration;
    clock_.wall_ahead += duration;
  }
  void set_wall_clock(Duration by) { clock_.wall_ahead += by; }

 private:
  struct Offsets final : Clock {
    explicit Offsets(const rt::SimLoop& loop) : base(loop) {}
    [[nodiscard]] Time now() const override { return base.now() + wall_ahead; }
    [[nodiscard]] Monotonic monotonic() const override {
      return base.monotonic() + monotonic_ahead;
    }
    const rt::SimLoop& base;
    Duration monotonic_ahead{};
    Duration wall_ahead{};
  };

  rt::SimLoop& loop_;
  Offsets clock_;
};

}  // namespace muster::cluster
