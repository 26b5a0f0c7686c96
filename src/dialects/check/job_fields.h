#pragma once

#include <span>
#include <string_view>

#include "dialects/check/fields.h"
#include "dialects/check/schema.h"

// Rows that the tables of all job kinds have in common.
namespace muster::dialects {

// One job of 10,000 pods is what the largest documented clusters hold; more is a typing mistake.
inline constexpr int kMostPods = 10'000;

// The object around spec, and spec itself.
std::span<const Field> object_fields();

// The table of a kind as its schema, with the sentence for the kind, and what only a schema shows:
// the insides of its templates, and of the status what is ours. `roles` are where its roles stand
// in the table.
json::Value job_schema(FieldTable table, std::string_view doc,
                       const std::vector<std::string>& roles, std::span<const Field> status,
                       const std::vector<CelRule>& rules);

}  // namespace muster::dialects
