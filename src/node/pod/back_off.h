#pragma once

#include "base/time.h"
#include "node/agent/options.h"

namespace muster::node {

// How long to wait before start number `restart` + 1 of a container, counted from its last end.
// Plain arithmetic, so that it is the same after a restart of Muster: `quick_ends` is how often in
// a row the container ended without having run for `reset_after`.
Duration back_off_delay(const BackOffOptions& options, int quick_ends);

// The new count of quick ends after one more end.
int count_quick_end(const BackOffOptions& options, int quick_ends, Duration ran_for);

}  // namespace muster::node
