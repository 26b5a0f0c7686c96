#pragma once

#include <cstddef>

#include "base/time.h"

namespace muster::controller {

// How long a job is left alone after a look. A look walks all children of a job, and each of them
// brings events: without a pause their cost would grow with the square of the job. With one in
// proportion, looks take the same small share of the processor whatever the size: at 2.5 µs for
// each child and look, one fortieth. 10,000 ranks are looked at once a second; small jobs feel
// nothing.
inline Duration pause_after_look(std::size_t children) {
  constexpr Duration kForEachChild = std::chrono::microseconds(100);
  constexpr Duration kNotWorthATimer = std::chrono::milliseconds(1);
  const Duration pause = kForEachChild * children;
  return pause < kNotWorthATimer ? Duration::zero() : pause;
}

}  // namespace muster::controller
