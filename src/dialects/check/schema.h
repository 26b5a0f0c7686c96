#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dialects/check/fields.h"
#include "json/value.h"

// The OpenAPI schema of a CRD, from the same tables that jobs are checked by.
namespace muster::dialects {

// A rule that the API server can check by itself, in its expression language.
struct CelRule {
  std::string at;  // the field that `self` is: spec.runPolicy
  std::string rule;
  std::string message;
  std::string_view reason = "FieldValueInvalid";
};

// All fields of the table as an object of type `object`, each with its sentence.
json::Value schema_of(const FieldTable& table, const std::vector<CelRule>& rules = {});

}  // namespace muster::dialects
