#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/value.h"

// JSONPath as kubectl speaks it: .spec.containers[0].name, [*], [-1], [0:2], ['a','b'], .., and
// filters [?(@.type=="Ready")]; and templates of it: text, {paths}, {"\n"}, {range PATH}…{end}.
namespace muster::cli {

namespace query {
struct Path;
struct Template;
}  // namespace query

// One path, written with braces or without, with a dot in front or without.
class JsonPath {
 public:
  // BadRequest says what is wrong and where.
  static Result<JsonPath> parse(std::string_view text);

  // Everything that it finds, in order; pointers into the value. What is not there is nothing. An
  // error when it would be far too much.
  [[nodiscard]] Result<std::vector<const json::Value*>> find(const json::Value& root) const;

 private:
  std::shared_ptr<const query::Path> path_;
};

class JsonPathTemplate {
 public:
  // A text without any braces is taken for one path.
  static Result<JsonPathTemplate> parse(std::string_view text);
  // What the template says of a value; several results of one path have a space between.
  [[nodiscard]] Result<std::string> apply(const json::Value& root) const;

 private:
  std::shared_ptr<const query::Template> template_;
};

// A result as it is printed: text without quotes, anything else as JSON.
std::string shown_result(const json::Value& value);

}  // namespace muster::cli
