#pragma once

#include "base/error.h"
#include "base/random.h"
#include "json/value.h"
#include "plan/plan.h"

namespace muster::controller {

// Writes fresh keys into a Secret that is about to be sent: its `data`, as plan::Source says. The
// object must not be printed or kept from then on.
Result<void> add_keys(plan::Source source, Rng& rng, json::Value& secret);

}  // namespace muster::controller
