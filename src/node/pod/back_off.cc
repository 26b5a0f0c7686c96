#include "node/pod/back_off.h"

#include <algorithm>

namespace muster::node {

// The first end in a row is followed by a start at once, the second by `first`, and so on.
Duration back_off_delay(const BackOffOptions& options, int quick_ends) {
  if (quick_ends <= 1) return Duration::zero();
  Duration delay = options.first;
  for (int i = 2; i < quick_ends && delay < options.longest; ++i) delay *= 2;
  return std::min(delay, options.longest);
}

int count_quick_end(const BackOffOptions& options, int quick_ends, Duration ran_for) {
  return ran_for >= options.reset_after ? 1 : quick_ends + 1;
}

}  // namespace muster::node
