#pragma once

#include <string_view>

#include "json/value.h"

// How plain (unquoted) text is understood. Reader and writer share this, so that the writer quotes
// exactly what the reader would otherwise take for something else.
namespace muster::yaml {

enum class ScalarType { String, Null, Boolean, Integer, Float, NotFinite };

struct Scalar {
  ScalarType type = ScalarType::String;
  json::Value value;
};

// The rules of kubectl's YAML library, which are those of YAML 1.1 without sexagesimal numbers and
// with timestamps left as strings. NotFinite is .inf and .nan, which JSON cannot hold.
Scalar resolve(std::string_view text);

}  // namespace muster::yaml
