#pragma once

#include "json/value.h"
#include "plan/dialect.h"

namespace muster::deploy {

// The CustomResourceDefinition of a kind: names, columns and scale from its identity, the schema
// from its field tables.
json::Value crd_of(const plan::Dialect& dialect);

}  // namespace muster::deploy
