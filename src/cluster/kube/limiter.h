#pragma once

#include <optional>
#include <utility>

#include "base/time.h"
#include "rt/loop.h"
#include "rt/wait.h"

namespace muster::cluster::kube {

struct LimiterOptions {
  int start = 64;
  int most = 256;
  // Latency alone never takes the limit below this: on two cores a real API server is at its best
  // with 8 to 32 requests in flight. Refusals (429) do, down to `least`.
  int least_by_latency = 16;
  int least = 1;
};

// How many requests may be in flight: additive increase, multiplicative decrease. Pure; one
// instance per server. Works in rounds of about `limit` answers: a round at full load whose mean
// latency is more than twice the best one known makes the limit smaller, otherwise it grows by a
// sixteenth. A refusal halves it, once per round trip. What is best is forgotten slowly, so that a
// server that became slower for good is not held down for ever.
class AdaptiveLimit {
 public:
  explicit AdaptiveLimit(LimiterOptions options) : options_(options), limit_(options.start) {}

  struct Answer {
    Duration latency;
    bool refused = false;    // 429, or 503 with a Retry-After
    bool saturated = false;  // as many were in flight as allowed
    Monotonic now;
  };
  void record(const Answer& answer);
  [[nodiscard]] int limit() const { return limit_; }

 private:
  void end_round();

  LimiterOptions options_;
  int limit_;
  // The round being counted.
  int answers_ = 0;
  int saturated_ = 0;
  Duration sum_{};
  std::optional<Duration> best_;  // lowest mean of a round
  std::optional<Monotonic> halved_at_;
};

// Lets requests through as the adaptive limit allows; the rest wait in order. Lives on one loop and
// outlives its permits.
class Limiter {
 public:
  Limiter(rt::Loop& loop, LimiterOptions options)
      : adaptive_(options), gate_(loop, options.start), allowed_(options.start) {}

  class [[nodiscard]] Permit {
   public:
    Permit(Limiter& limiter, rt::Gate::Permit inside)
        : limiter_(&limiter), inside_(std::move(inside)) {}
    Permit(Permit&& other) noexcept
        : limiter_(std::exchange(other.limiter_, nullptr)), inside_(std::move(other.inside_)) {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (limiter_ != nullptr) --limiter_->demand_;
    }

   private:
    Limiter* limiter_;
    rt::Gate::Permit inside_;
  };

  Task<Result<Permit>> enter();
  void record(Duration latency, bool refused, Monotonic now);
  [[nodiscard]] int limit() const { return allowed_; }

 private:
  AdaptiveLimit adaptive_;
  rt::Gate gate_;
  int allowed_;
  int demand_ = 0;  // inside or waiting
};

}  // namespace muster::cluster::kube
