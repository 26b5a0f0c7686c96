#pragma once

#include "base/time.h"
#include "cluster/election.h"

namespace muster::cluster {

// How much of a lease is used up. Between two looks it counts what the monotonic clock says (which
// on Linux goes on while the machine sleeps) or what the wall clock says, whichever is more: after
// a virtual machine was paused the first has stood still, and the second is right as soon as
// somebody sets it. A wall clock that is set back takes nothing away. So it never counts less than
// the monotonic clock; it counts too much when the wall clock is set forward, and then a leader
// ends for nothing.
class LeaseClock {
 public:
  // `clock` outlives it.
  explicit LeaseClock(const Clock& clock)
      : clock_(clock), monotonic_(clock.monotonic()), wall_(clock.now()) {}

  [[nodiscard]] Monotonic used() const { return moment().used; }
  [[nodiscard]] election::Moment moment() const;

 private:
  const Clock& clock_;
  // The last look. Looking changes nothing that anybody sees.
  mutable Monotonic monotonic_;
  mutable Time wall_;
  mutable Monotonic used_;
};

}  // namespace muster::cluster
