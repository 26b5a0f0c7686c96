#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "json/value.h"
#include "plan/unknown_field.h"

// Fields of an object as people write them: spec.replicaSpecs[0].replicas,
// metadata.labels[example.org/team].
namespace muster::cli {

using FieldStep = std::variant<std::string, std::size_t>;  // a member, or an element by its index

struct FieldPath {
  std::string text;
  std::vector<FieldStep> steps;

  static Result<FieldPath> parse(std::string_view text);
};

// Where the path leaves what the schema has, or what this object has where anything can be named
// (the roles of a job): with what was probably meant. Nothing: the object can have that field.
std::optional<plan::UnknownField> where_it_ends(const FieldPath& path, const json::Value& schema,
                                                const json::Value& object);

// Makes the field and what leads to it; null takes it away. An error when something in between is
// neither object nor list, or an index is beyond the end of its list.
Result<void> set_field(const FieldPath& path, json::Value value, json::Value& object);

}  // namespace muster::cli
