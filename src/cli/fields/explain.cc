#include "cli/fields/explain.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/fields/schemas.h"
#include "dialects/check/messages.h"

namespace muster::cli {
namespace {

constexpr std::size_t kWidth = 80;

// Object, []string, map[string]quantity: as kubectl writes types.
std::string type_of(const json::Value& reference) {
  if (const auto& name = reference["$ref"].as_string(); !name.empty()) return name;
  if (!reference["items"].is_null()) return "[]" + type_of(reference["items"]);
  if (!reference["additionalProperties"].is_null()) {
    return "map[string]" + type_of(reference["additionalProperties"]);
  }
  if (reference["x-kubernetes-int-or-string"].as_bool()) return "IntOrString";
  const auto& type = reference["type"].as_string();
  return type == "object" ? "Object" : type;
}

// The value that lists and maps hold.
const json::Value& element_of(const json::Value& reference) {
  const json::Value* node = &resolve(reference);
  while (true) {
    const json::Value& items = (*node)["items"];
    const json::Value& values = (*node)["additionalProperties"];
    if (items.is_null() && values.is_null()) return *node;
    node = &resolve(items.is_null() ? values : items);
  }
}

std::string description_of(const json::Value& reference) {
  const auto& own = reference["description"].as_string();
  return own.empty() ? resolve(reference)["description"].as_string() : own;
}

// Words in lines of the width, each after the indentation.
std::string wrapped(std::string_view text, std::size_t indentation) {
  std::string out;
  std::string line(indentation, ' ');
  for (const auto word : split(text, ' ')) {
    if (line.size() > indentation && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      line.assign(indentation, ' ');
    }
    if (line.size() > indentation) line += ' ';
    line += word;
  }
  return line.size() > indentation ? out + line + "\n" : out;
}

std::string allowed_of(const json::Value& node) {
  std::vector<std::string> words;
  for (const auto& word : node["enum"].as_array()) {
    words.push_back(word.as_string().empty() ? "\"\"" : word.as_string());
  }
  return join(words, ", ");
}

bool is_required(const json::Value& node, const std::string& name) {
  return std::ranges::any_of(node["required"].as_array(),
                             [&](const auto& one) { return one.as_string() == name; });
}

struct Found {
  const json::Value* node = nullptr;  // as it stands in its parent
  bool required = false;
};

// One step further; the place of an element in a list is not written, a key of a map may be.
Result<Found> enter(const json::Value& reference, const std::string& name,
                    const std::string& walked) {
  const json::Value* node = &resolve(reference);
  while (!(*node)["items"].is_null()) node = &resolve((*node)["items"]);
  if (const json::Value& values = (*node)["additionalProperties"]; !values.is_null()) {
    const json::Object& members = resolve(values)["properties"].as_object();
    if (!members.contains(name)) return Found{.node = &values};
    node = &resolve(values);
  }
  const json::Object& members = (*node)["properties"].as_object();
  if (const auto* member = members.find(name)) {
    return Found{.node = member, .required = is_required(*node, name)};
  }
  std::vector<std::string_view> known;
  for (const auto& [member, ignored] : members) known.push_back(member);
  const auto near = dialects::nearest(name, known);
  std::string hint = known.empty() ? "; it has no fields that are known" : "";
  if (!near.empty()) hint = fmt::format(", did you mean {}?", near);
  return fail(ErrorCode::NotFound,
              fmt::format("{} has no field {}{}", walked, printable(name), hint));
}

std::string field_line(const std::string& name, const json::Value& node, bool required) {
  return fmt::format("  {} <{}>{}\n", name, type_of(node), required ? " -required-" : "");
}

std::string members_of(const json::Value& reference) {
  const json::Value& node = element_of(reference);
  std::string out;
  for (const auto& [name, member] : node["properties"].as_object()) {
    out += field_line(name, member, is_required(node, name));
    if (const auto allowed = allowed_of(member); !allowed.empty()) {
      out += wrapped("enum: " + allowed, 4);
    }
    out += wrapped(description_of(member), 4) + "\n";
  }
  return out;
}

}  // namespace

Result<std::string> explain_field(const api::Resource& resource, const json::Value& schema,
                                  std::string_view field) {
  Found at{.node = &schema};
  std::string walked = resource.kind;
  std::string last;
  if (!field.empty()) {
    for (const auto step : split(field, '.')) {
      last = std::string(step.substr(0, step.find('[')));
      at = TRY(enter(*at.node, last, walked));
      walked += '.' + last;
    }
  }
  std::string out =
      fmt::format("KIND:     {}\nVERSION:  {}\n", resource.kind, resource.api_version());
  if (!field.empty()) {
    out += fmt::format("FIELD:    {} <{}>{}\n", last, type_of(*at.node),
                       at.required ? " -required-" : "");
  }
  if (const auto allowed = allowed_of(resolve(*at.node)); !allowed.empty()) {
    out += fmt::format("ENUM:     {}\n", allowed);
  }
  out += "\nDESCRIPTION:\n";
  const auto description = description_of(*at.node);
  out += wrapped(description.empty() ? "(none)" : description, 2);
  if (const auto members = members_of(*at.node); !members.empty()) out += "\nFIELDS:\n" + members;
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace muster::cli
