#include "dialects/check/schema.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::dialects {
namespace {

using Node = FieldTable::Node;

class Writer {
 public:
  explicit Writer(const std::vector<CelRule>& rules) : rules_(rules) {}

  // What the node itself is goes before what it holds, as people write schemas.
  [[nodiscard]] json::Object write(const Node& node, const std::string& path) const {
    json::Object out;
    if (!node.field) {
      out.set("type", "object");
    } else {
      set_description(*node.field, out);
      set_type(*node.field, out);
      if (node.field->nullable) out.set("nullable", true);
      set_bounds(*node.field, out);
    }
    set_rules(node, path, out);
    set_members(node, path, out);
    if (node.each) {
      const bool list = node.field->type == Type::List;
      out.set(list ? "items" : "additionalProperties",
              write(*node.each, path + (list ? "[]" : ".*")));
    }
    return out;
  }

 private:
  static void set_description(const Field& field, json::Object& out) {
    std::string text(field.doc);
    if (!field.fallback.empty()) {
      if (!text.empty()) text += ' ';
      text += fmt::format("Default {}.", field.fallback);
    }
    if (!text.empty()) out.set("description", text);
  }

  static void set_type(const Field& field, json::Object& out) {
    switch (field.type) {
      case Type::Object:
      case Type::Map:
        out.set("type", "object");
        break;
      case Type::Open:
        out.set("type", "object");
        out.set("x-kubernetes-preserve-unknown-fields", true);
        break;
      case Type::List:
        out.set("type", "array");
        break;
      case Type::String:
        out.set("type", "string");
        break;
      case Type::Int32:
      case Type::Int64:
        out.set("type", "integer");
        out.set("format", field.type == Type::Int32 ? "int32" : "int64");
        break;
      case Type::Bool:
        out.set("type", "boolean");
        break;
      case Type::Quantity:
      case Type::NumberOrText:
        out.set("x-kubernetes-int-or-string", true);
        break;
      case Type::Time:
        out.set("type", "string");
        out.set("format", "date-time");
        break;
    }
  }

  static void set_bounds(const Field& field, json::Object& out) {
    const bool number = field.type == Type::Int32 || field.type == Type::Int64;
    if (number && field.minimum) out.set("minimum", *field.minimum);
    if (number && field.maximum) out.set("maximum", *field.maximum);
    if (field.type == Type::List && field.maximum) out.set("maxItems", *field.maximum);
    if (field.type == Type::Map && field.maximum) out.set("maxProperties", *field.maximum);
    // A word must be written out; where it may be empty, the table says so.
    if (field.type == Type::String && field.required && field.allowed.empty()) {
      out.set("minLength", 1);
    }
    if (field.type == Type::NumberOrText) {
      out.set("pattern", "^[0-9]+$");
      out.set("maxLength", 9);  // without it the rule could cost the server too much
    }
    if (field.allowed.empty()) return;
    json::Array allowed;
    for (const auto word : split(field.allowed, '|')) allowed.emplace_back(word);
    out.set("enum", std::move(allowed));
  }

  // Bounds of a number that may stand in quotes: a schema's own mean only the one without.
  static std::optional<CelRule> range_rule(const Field& field) {
    if (field.type != Type::NumberOrText || !field.minimum || !field.maximum) return std::nullopt;
    return CelRule{
        .rule = fmt::format("int(self) >= {} && int(self) <= {}", *field.minimum, *field.maximum),
        .message =
            fmt::format("must be a whole number from {} to {}", *field.minimum, *field.maximum)};
  }

  void set_rules(const Node& node, const std::string& path, json::Object& out) const {
    std::vector<CelRule> here;
    if (node.field) {
      if (auto range = range_rule(*node.field)) here.push_back(std::move(*range));
    }
    for (const auto& rule : rules_) {
      if (rule.at == path) here.push_back(rule);
    }
    json::Array list;
    for (const auto& rule : here) {
      list.emplace_back(
          json::Object{{"rule", rule.rule}, {"message", rule.message}, {"reason", rule.reason}});
    }
    if (!list.empty()) out.set("x-kubernetes-validations", std::move(list));
  }

  void set_members(const Node& node, const std::string& path, json::Object& out) const {
    json::Object properties;
    json::Array required;
    for (const auto& [name, member] : node.members) {
      if (member.field && member.field->required) required.emplace_back(name);
      properties.set(name, write(member, path.empty() ? name : path + "." + name));
    }
    if (!required.empty()) out.set("required", std::move(required));
    if (!properties.empty()) out.set("properties", std::move(properties));
  }

  const std::vector<CelRule>& rules_;
};

}  // namespace

json::Value schema_of(const FieldTable& table, const std::vector<CelRule>& rules) {
  return Writer(rules).write(table.root(), "");
}

}  // namespace muster::dialects
