#pragma once

#include <optional>

#include "plan/plan.h"
#include "plan/verdict.h"

namespace muster::dialects::t9k {

// The one that a job is announced by; among the warnings of its plan, because it is said once.
plan::Warning created(const plan::JobRef& job);

// The event for a note, as users of T9k know them.
std::optional<plan::EventText> event_for(const plan::JobRef& job, const plan::Note& note);

}  // namespace muster::dialects::t9k
