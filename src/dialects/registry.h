#pragma once

#include "plan/dialect.h"

namespace muster::dialects {

// Every kind that this program knows: one row each.
plan::Registry make_registry();

}  // namespace muster::dialects
