#include "cli/fields/unknown_fields.h"

#include <algorithm>

#include "cli/fields/schemas.h"
#include "dialects/check/findings.h"
#include "dialects/check/messages.h"

namespace muster::cli {
namespace {

using dialects::Findings;
using dialects::Path;

void look(const json::Value& reference, const json::Value& value, const Path& path,
          Findings& findings);

void look_at_members(const json::Value& node, const json::Object& object, const Path& path,
                     Findings& findings) {
  const json::Object& known = node["properties"].as_object();
  const json::Value& any = node["additionalProperties"];
  for (const auto& [name, value] : object) {
    if (const auto* member = known.find(name)) {
      look(*member, value, path / name, findings);
    } else if (!any.is_null()) {
      look(any, value, path / name, findings);
    } else if (!is_open(node)) {
      std::vector<std::string_view> names;
      for (const auto& [candidate, ignored] : known) names.push_back(candidate);
      findings.note_unknown(path / name, dialects::nearest(name, names));
    }
  }
}

// What has the wrong type is somebody else's to refuse.
void look(const json::Value& reference, const json::Value& value, const Path& path,
          Findings& findings) {
  const json::Value& node = resolve(reference);
  if (value.is_array() && !node["items"].is_null()) {
    for (std::size_t i = 0; i < value.as_array().size(); ++i) {
      look(node["items"], value[i], path[i], findings);
    }
  } else if (value.is_object() && node["type"].as_string() == "object") {
    look_at_members(node, value.as_object(), path, findings);
  }
}

}  // namespace

std::vector<plan::UnknownField> unknown_fields(const json::Value& schema,
                                               const plan::Dialect* dialect,
                                               const json::Value& object) {
  Findings findings;
  look(schema, object, Path(), findings);
  if (dialect == nullptr) return findings.unknown;
  for (auto& field : dialect->unknown_fields(object)) {
    const bool known = std::ranges::any_of(findings.unknown,
                                           [&](const auto& one) { return one.path == field.path; });
    if (!known) findings.unknown.push_back(std::move(field));
  }
  return findings.unknown;
}

}  // namespace muster::cli
