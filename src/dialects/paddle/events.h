#pragma once

#include <optional>

#include "plan/plan.h"
#include "plan/verdict.h"

namespace muster::dialects::paddle {

// The event for a note, as users of the Paddle operator know them.
std::optional<plan::EventText> event_for(const plan::JobRef& job, const plan::Note& note);

}  // namespace muster::dialects::paddle
