#pragma once

#include "json/value.h"
#include "plan/dialect.h"

namespace muster::deploy {

// What the operator may do with jobs and their children: exactly the calls it makes, nothing more.
json::Array rules_for(const plan::Registry& registry);

}  // namespace muster::deploy
