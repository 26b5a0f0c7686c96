#include "cluster/kube/retry.h"

#include <algorithm>

namespace muster::cluster::kube {
namespace {

bool may_repeat(Effect effect, const Error& error, bool answered) {
  if (answered) return is_refusal(error);
  return effect == Effect::Reads && error.code == ErrorCode::Unavailable;
}

}  // namespace

bool is_refusal(const Error& error) {
  if (error.code == ErrorCode::TooManyRequests) return true;
  return error.code == ErrorCode::Unavailable && error.retry_after.has_value();
}

std::optional<Duration> retry_delay(Effect effect, const Error& error, bool answered, int attempt,
                                    Duration elapsed, Rng& rng, const RetryOptions& options) {
  if (!may_repeat(effect, error, answered)) return std::nullopt;
  const Duration doubled = options.first * (std::int64_t{1} << std::min(attempt, 20));
  const Duration base = std::min(options.most, doubled);
  // What the server asked for is a minimum; the jitter comes on top, so that a crowd does not
  // return at once.
  const Duration asked = error.retry_after ? Duration(*error.retry_after) : Duration{};
  const auto jitter = static_cast<std::int64_t>(static_cast<double>(base.count()) * rng.unit());
  const Duration delay = std::max(asked, base / 2) + Duration(jitter / 2);
  if (elapsed + delay > options.total) return std::nullopt;
  return delay;
}

}  // namespace muster::cluster::kube
