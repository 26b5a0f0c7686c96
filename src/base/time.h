#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace muster {

using Duration = std::chrono::nanoseconds;

// Wall-clock time, what Kubernetes writes into objects.
using Time = std::chrono::sys_time<std::chrono::nanoseconds>;

// Time that only moves forward, for timers and latencies; has no meaning outside the process.
struct Monotonic {
  Duration since_start{};
  friend auto operator<=>(const Monotonic&, const Monotonic&) = default;
  friend Monotonic operator+(Monotonic at, Duration by) { return {at.since_start + by}; }
  friend Duration operator-(Monotonic a, Monotonic b) { return a.since_start - b.since_start; }
};

// The clock seam: production reads the machine's, simulation moves its own.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Time now() const = 0;
  [[nodiscard]] virtual Monotonic monotonic() const = 0;
};

class SystemClock final : public Clock {
 public:
  [[nodiscard]] Time now() const override;
  [[nodiscard]] Monotonic monotonic() const override;
};

// As many seconds as somebody wrote, but not more than about a hundred years either way: added to
// any time of our days the sum still fits the 292 years that nanoseconds have.
Duration seconds_saturating(std::int64_t seconds);

// 2026-11-15T03:04:05Z, as metav1.Time writes it.
std::string format_time(Time time);
// 2026-11-15T03:04:05.000006Z, as metav1.MicroTime writes it.
std::string format_micro_time(Time time);
// Either of the two, and any RFC 3339 offset.
Result<Time> parse_time(std::string_view text);

// 5s, 3m12s, 5h, 2d: as kubectl prints ages.
std::string format_age(Duration age);

}  // namespace muster
