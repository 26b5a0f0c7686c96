#pragma once

#include "json/value.h"
#include "plan/plan.h"

namespace muster::dialects::test {

// A Plan as a value that can stand in a case file: everything the engine will act on.
json::Value plan_text(const plan::Plan& plan);

}  // namespace muster::dialects::test
