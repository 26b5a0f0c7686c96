#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/query/jsonpath.h"

namespace muster::cli {

struct CustomColumn {
  std::string title;
  JsonPath path;
};

// What -o asks for.
struct Format {
  enum class Kind { Table, Wide, Json, Yaml, Name, JsonPath, CustomColumns };
  Kind kind = Kind::Table;
  std::optional<JsonPathTemplate> jsonpath;
  std::vector<CustomColumn> columns;
};

// Empty, wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=TITLE:PATH,….
Result<Format> parse_format(std::string_view text);

// The cells of custom columns; <none> for what an object does not have.
Result<std::vector<std::string>> custom_row(const std::vector<CustomColumn>& columns,
                                            const json::Value& object);

}  // namespace muster::cli
