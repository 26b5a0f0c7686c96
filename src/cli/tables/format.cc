#include "cli/tables/format.h"

#include <array>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cli {
namespace {

constexpr std::string_view kKnown =
    "json, yaml, wide, name, jsonpath=TEMPLATE or custom-columns=TITLE:PATH,…";

// At the commas that are not inside of brackets or quotes.
std::vector<std::string_view> split_columns(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t from = 0;
  int depth = 0;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '(') {
      ++depth;
    } else if (c == ']' || c == ')') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      parts.push_back(text.substr(from, i - from));
      from = i + 1;
    }
  }
  parts.push_back(text.substr(from));
  return parts;
}

Result<std::vector<CustomColumn>> parse_columns(std::string_view text) {
  std::vector<CustomColumn> columns;
  for (const std::string_view part : split_columns(text)) {
    const auto colon = part.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == part.size()) {
      return fail(
          ErrorCode::BadRequest,
          fmt::format("\"{}\" is not TITLE:PATH, like NAME:.metadata.name", printable(part)));
    }
    columns.push_back({.title = std::string(part.substr(0, colon)),
                       .path = TRY(JsonPath::parse(part.substr(colon + 1)))});
  }
  return columns;
}

}  // namespace

Result<Format> parse_format(std::string_view text) {
  struct Word {
    std::string_view text;
    Format::Kind kind;
  };
  constexpr std::array kWords = {Word{"", Format::Kind::Table}, Word{"wide", Format::Kind::Wide},
                                 Word{"json", Format::Kind::Json}, Word{"yaml", Format::Kind::Yaml},
                                 Word{"name", Format::Kind::Name}};
  for (const Word& word : kWords) {
    if (text == word.text) return Format{.kind = word.kind};
  }
  const auto equals = text.find('=');
  const std::string_view kind = text.substr(0, equals);
  const std::string_view rest =
      equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
  if (kind != "jsonpath" && kind != "custom-columns") {
    return fail(ErrorCode::BadRequest,
                fmt::format("\"{}\" is no format; use {}", printable(text), kKnown));
  }
  if (rest.empty()) {
    return fail(ErrorCode::BadRequest,
                fmt::format("{} says what to print: -o {}", kind,
                            kind == "jsonpath" ? "jsonpath='{.items[*].metadata.name}'"
                                               : "custom-columns=NAME:.metadata.name"));
  }
  if (kind == "jsonpath") {
    return Format{.kind = Format::Kind::JsonPath, .jsonpath = TRY(JsonPathTemplate::parse(rest))};
  }
  return Format{.kind = Format::Kind::CustomColumns, .columns = TRY(parse_columns(rest))};
}

Result<std::vector<std::string>> custom_row(const std::vector<CustomColumn>& columns,
                                            const json::Value& object) {
  std::vector<std::string> row;
  for (const CustomColumn& column : columns) {
    std::string cell;
    for (const json::Value* found : TRY(column.path.find(object))) {
      if (!cell.empty()) cell += ',';
      cell += found->is_null() ? "<none>" : shown_result(*found);
    }
    row.push_back(cell.empty() ? "<none>" : std::move(cell));
  }
  return row;
}

}  // namespace muster::cli
