#pragma once

#include <utility>

#include "rt/loop.h"

namespace muster::simulation {

// The loop of a machine whose wall clock somebody sets; time passes as on the inner one.
class SkewedLoop final : public rt::Loop {
 public:
  explicit SkewedLoop(rt::Loop& inner) : inner_(inner), clock_(inner) {}

  void post(rt::Callback callback) override { inner_.post(std::move(callback)); }
  void post_from_thread(rt::Callback callback) override {
    inner_.post_from_thread(std::move(callback));
  }
  rt::TimerId schedule(Monotonic at, rt::Callback callback) override {
    return inner_.schedule(at, std::move(callback));
  }
  void cancel(rt::TimerId timer) override { inner_.cancel(timer); }
  [[nodiscard]] const Clock& clock() const override { return clock_; }

  void jump(Duration by) { clock_.skew += by; }

 private:
  struct SkewedClock final : Clock {
    explicit SkewedClock(const rt::Loop& inner) : loop(inner) {}
    [[nodiscard]] Time now() const override { return loop.now() + skew; }
    [[nodiscard]] Monotonic monotonic() const override { return loop.monotonic(); }
    const rt::Loop& loop;
    Duration skew{};
  };

  rt::Loop& inner_;
  SkewedClock clock_;
};

}  // namespace muster::simulation
