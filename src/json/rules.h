#pragma once

#include "json/read.h"

// What every reader refuses, in the same words. Only readers include this.
namespace muster::json {

Result<void> check_size(std::string_view text, const ReadLimits& limits);
// A repeated key within the object.
Result<void> check_keys(const Object& object);

std::unexpected<Error> too_deep(const ReadLimits& limits);
std::unexpected<Error> too_many_values(const ReadLimits& limits);
std::unexpected<Error> not_json(std::string_view why);

}  // namespace muster::json
