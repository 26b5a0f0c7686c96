#include "cli/fields/kubernetes_types.h"

#include <string>

#include "base/strings.h"

namespace muster::cli {
namespace {

// Takes the first word off, with the blanks behind it.
std::string_view take_word(std::string_view& text) {
  const auto word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return word;
}

json::Object type_named(std::string_view name) {
  if (name.starts_with("[]")) {
    return {{"type", "array"}, {"items", type_named(name.substr(2))}};
  }
  if (name.starts_with("{}")) {
    return {{"type", "object"}, {"additionalProperties", type_named(name.substr(2))}};
  }
  if (name == "any") return {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  if (name == "time") return {{"type", "string"}, {"format", "date-time"}};
  if (name == "quantity" || name == "number-or-text") {
    return {{"x-kubernetes-int-or-string", true}};
  }
  if (name == "string" || name == "integer" || name == "number" || name == "boolean") {
    return {{"type", name}};
  }
  return {{"$ref", name}};
}

void add_types(std::string_view table, json::Object& types) {
  json::Value* members = nullptr;
  for (auto line : split(table, '\n')) {
    if (line.empty()) continue;
    if (line.front() != ' ') {
      const auto name = take_word(line);
      types.append(std::string(name), json::Object{{"description", line}, {"type", "object"}});
      members = &types[name]["properties"];
      *members = json::Object{};
      continue;
    }
    line.remove_prefix(line.find_first_not_of(' '));
    const auto name = take_word(line);
    auto type = type_named(take_word(line));
    if (!line.empty()) type.set("description", line);
    members->object().append(std::string(name), std::move(type));
  }
}

}  // namespace

const json::Object& kubernetes_types() {
  static const json::Object types = [] {
    json::Object all;
    for (const auto table : {kPodTypes, kVolumeTypes, kObjectTypes}) add_types(table, all);
    return all;
  }();
  return types;
}

}  // namespace muster::cli
