#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "json/value.h"

// What a JSONPath says, read but not yet applied.
namespace muster::cli::query {

struct Step;

struct Path {
  bool from_root = true;  // $ or a plain path; false: @, the element that is looked at
  std::vector<Step> steps;
};

struct Field {
  std::string name;
  bool quoted = false;  // ['a.b'] is a member of that name, and else the path a.b, as in kubectl
};
struct Wildcard {};  // every element, or every member
struct Descent {};   // .., the value itself and everything below
struct Slice {       // [from:to:by], and [at] as at:at+1
  std::optional<std::int64_t> from;
  std::optional<std::int64_t> to;
  std::int64_t by = 1;
  bool single = false;
};
struct Union {  // [0,2] and ['a','b']
  std::vector<std::variant<Field, Slice>> parts;
};

struct Filter;

struct Step {
  std::variant<Field, Wildcard, Descent, Slice, Union, std::shared_ptr<const Filter>> what;
};

enum class Comparison { Exists, Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual };
using Operand = std::variant<Path, json::Value>;
struct Filter {
  Operand left;
  Comparison comparison = Comparison::Exists;
  Operand right = json::Value();
};

struct Text {
  std::string text;
};
struct Range;
using Piece = std::variant<Text, Path, std::shared_ptr<const Range>>;
struct Range {
  Path over;
  std::vector<Piece> body;
};
struct Template {
  std::vector<Piece> pieces;
};

Result<Path> parse_path(std::string_view text);
Result<Template> parse_template(std::string_view text);

}  // namespace muster::cli::query
