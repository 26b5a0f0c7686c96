#include "cluster/kube/limiter.h"

#include <algorithm>

namespace muster::cluster::kube {

void AdaptiveLimit::record(const Answer& answer) {
  if (answer.refused) {
    // All that were in flight with it are refused for the same reason: they count once.
    const bool same_reason =
        halved_at_ && answer.now - *halved_at_ < std::max(answer.latency, Duration{});
    if (same_reason) return;
    halved_at_ = answer.now;
    limit_ = std::max(options_.least, limit_ / 2);
    answers_ = saturated_ = 0;
    sum_ = {};
    return;
  }
  ++answers_;
  saturated_ += answer.saturated ? 1 : 0;
  sum_ += answer.latency;
  // At least 8, so that one slow answer alone says nothing.
  if (answers_ >= std::max(limit_, 8)) end_round();
}

void AdaptiveLimit::end_round() {
  const Duration mean = sum_ / answers_;
  const bool full = saturated_ * 2 >= answers_;
  answers_ = saturated_ = 0;
  sum_ = {};
  // An idle server is always fast; only rounds under load can be compared with each other.
  if (!full) return;
  if (!best_ || mean < *best_) {
    best_ = mean;
  } else {
    *best_ += *best_ / 32;
  }
  if (mean > 2 * *best_) {
    limit_ = std::min(limit_, std::max(options_.least_by_latency, limit_ - limit_ / 4));
  } else {
    limit_ = std::min(options_.most, limit_ + std::max(1, limit_ / 16));
  }
}

Task<Result<Limiter::Permit>> Limiter::enter() {
  ++demand_;
  auto inside = co_await gate_.enter();
  if (!inside) {
    --demand_;
    co_return fail(inside.error());
  }
  co_return Permit(*this, std::move(*inside));
}

void Limiter::record(Duration latency, bool refused, Monotonic now) {
  adaptive_.record(
      {.latency = latency, .refused = refused, .saturated = demand_ >= allowed_, .now = now});
  const int change = adaptive_.limit() - allowed_;
  allowed_ = adaptive_.limit();
  if (change < 0) gate_.resize(change);
  for (int i = 0; i < change; ++i) gate_.resize(1);  // one by one: each wakes one who waits
}

}  // namespace muster::cluster::kube
