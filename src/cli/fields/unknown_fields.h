#pragma once

#include <vector>

#include "json/value.h"
#include "plan/dialect.h"

namespace muster::cli {

// The fields of an object that its kind does not know, in the order of the file: by the schema, and
// by the dialect of a job kind, which may know better than the schema that it publishes.
std::vector<plan::UnknownField> unknown_fields(const json::Value& schema,
                                               const plan::Dialect* dialect,
                                               const json::Value& object);

}  // namespace muster::cli
