#include "cluster/lease_clock.h"

#include <algorithm>

namespace muster::cluster {

election::Moment LeaseClock::moment() const {
  const Monotonic monotonic = clock_.monotonic();
  const Time wall = clock_.now();
  used_ = used_ + std::max<Duration>(monotonic - monotonic_, wall - wall_);
  monotonic_ = monotonic;
  wall_ = wall;
  return {.monotonic = monotonic, .used = used_, .wall = wall};
}

}  // namespace muster::cluster
