#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

// How fields and values are worded in messages.
namespace muster::dialects {

// The candidate that the user most likely meant; empty when none is near.
std::string_view nearest(std::string_view written, const std::vector<std::string_view>& candidates);
// "; did you mean X?" or nothing.
std::string did_you_mean(std::string_view nearest);
std::string did_you_mean(std::string_view written, const std::vector<std::string_view>& candidates);

// "A", "A and B", "A, B and C".
std::string listed(const std::vector<std::string_view>& names);

// A value as it may stand in a message: short, on one line, printable.
std::string shown(const json::Value& value);
std::string in_quotes(std::string_view text);

}  // namespace muster::dialects
