#pragma once

#include <cstdint>

#include "base/time.h"

namespace muster::rt {

class RealLoop;

// What people notice, and what a lease or a probe begins to suffer from.
inline constexpr Duration kStall = std::chrono::milliseconds(100);

// What a loop did, ever.
struct LoopWork {
  std::uint64_t callbacks = 0;
  std::uint64_t stalls = 0;  // callbacks that kept all others waiting for longer than kStall
  Duration busy{};           // in callbacks; the rest of the time it waited

  // A callback ended that took so long.
  void count(Duration took) {
    ++callbacks;
    if (took > kStall) ++stalls;
    busy += took;
  }
};

LoopWork work_of(const RealLoop& loop);

}  // namespace muster::rt
