#pragma once

#include <string>
#include <string_view>

#include "json/value.h"

namespace muster::json {

// Compact JSON in member order.
std::string write(const Value& value);
void write_to(std::string& out, const Value& value);

// Indented by two spaces, as kubectl prints it.
std::string write_pretty(const Value& value);

// Members sorted at every level: equal values give equal bytes. For hashes and comparisons.
std::string write_canonical(const Value& value);

// A string with its quotes and escapes.
void write_string(std::string& out, std::string_view text);

}  // namespace muster::json
