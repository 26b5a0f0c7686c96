#pragma once

#include <optional>

#include "base/error.h"
#include "json/value.h"
#include "plan/dialect.h"
#include "plan/plan.h"

// Suspension for every kind: by its own field where it has one, else by kSuspendAnnotation.
namespace muster::plan {

// Holds the plan of a job whose annotation asks for it. What the annotation cannot do is said: a
// kind with a field of its own is suspended by that, and values other than true and false mean
// nothing.
std::optional<Warning> apply_suspend_annotation(const Identity& identity, const json::Value& job,
                                                Plan& plan);

// Writes whichever the kind has; false when it says so already. Invalid where something else stands
// in the way of the field.
Result<bool> set_suspended(const Identity& identity, json::Value& job, bool suspended);

}  // namespace muster::plan
