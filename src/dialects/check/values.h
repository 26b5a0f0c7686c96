#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dialects/check/fields.h"
#include "dialects/check/findings.h"
#include "json/value.h"

// One value against its row of the table.
namespace muster::dialects {

bool has_type(Type type, const json::Value& value);
std::string wrong_type(const Field& field, const json::Value& value);
std::string with_hint(std::string message, const Field& field);

void check_format(Format format, std::string_view text, const Path& path, Findings& findings);
// Ranges, alternatives and formats of a value that is neither object nor list.
void check_scalar(const Field& field, const json::Value& value, const Path& path,
                  Findings& findings);

// A number, with or without quotes.
std::optional<std::int64_t> whole_number(const json::Value& value);

}  // namespace muster::dialects
