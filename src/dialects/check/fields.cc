#include "dialects/check/fields.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "dialects/check/messages.h"
#include "dialects/check/values.h"

namespace muster::dialects {
namespace {

using Node = FieldTable::Node;

void check_node(const Node& node, const json::Value& value, const Path& path, Findings& findings);

void check_known_members(const Node& node, const json::Object& object, const Path& path,
                         Findings& findings) {
  for (const auto& [name, value] : object) {
    const auto found = node.members.find(name);
    if (found == node.members.end()) {
      if (node.field && node.field->type == Type::Open) continue;
      std::vector<std::string_view> known;
      known.reserve(node.members.size());
      for (const auto& [member, ignored] : node.members) known.push_back(member);
      findings.note_unknown(path / name, nearest(name, known));
    } else if (!value.is_null()) {  // null is absence, as Kubernetes reads it
      check_node(found->second, value, path / name, findings);
    }
  }
}

void check_members(const Node& node, const json::Object& object, const Path& path,
                   Findings& findings) {
  check_known_members(node, object, path, findings);
  for (const auto& [name, child] : node.members) {
    if (!child.field || !child.field->required) continue;
    const auto* value = object.find(name);
    if (value == nullptr || value->is_null()) {
      findings.refuse(path / name, rules::kRequired, with_hint("is required", *child.field));
    }
  }
}

// True when there are no more entries than allowed; a longer list is not looked into.
bool check_size(const Field& field, std::size_t size, const Path& path, Findings& findings) {
  if (!field.maximum || std::cmp_less_equal(size, *field.maximum)) return true;
  findings.refuse(path, rules::kMaximum,
                  fmt::format("has {} entries; at most {} are allowed", size, *field.maximum));
  return false;
}

void check_entries(const Node& node, const json::Value& value, const Path& path,
                   Findings& findings) {
  for (const auto& [key, member] : value.as_object()) {
    check_format(node.field->keys, key, path / key, findings);
    if (node.each && !member.is_null()) check_node(*node.each, member, path / key, findings);
  }
  for (std::size_t i = 0; i < value.as_array().size(); ++i) {
    if (node.each) check_node(*node.each, value[i], path[i], findings);
  }
}

void check_node(const Node& node, const json::Value& value, const Path& path, Findings& findings) {
  if (!node.field) return check_members(node, value.as_object(), path, findings);
  const Field& field = *node.field;
  if (!has_type(field.type, value)) {
    findings.refuse(path, rules::kType, wrong_type(field, value));
    return;
  }
  switch (field.type) {
    case Type::Object:
    case Type::Open:
      return check_members(node, value.as_object(), path, findings);
    case Type::Map:
    case Type::List:
      if (check_size(field, value.as_object().size() + value.as_array().size(), path, findings)) {
        check_entries(node, value, path, findings);
      }
      return;
    default:
      check_scalar(field, value, path, findings);
  }
}

}  // namespace

FieldTable::Node& FieldTable::node_at(std::string_view path) {
  Node* node = &root_;
  const auto enter_each = [&] {
    if (!node->each) node->each = std::make_unique<Node>();
    node = node->each.get();
  };
  for (auto part : split(path, '.')) {
    const bool element = part.ends_with("[]");
    if (element) part.remove_suffix(2);
    if (part == "*") {
      enter_each();
    } else {
      node = &node->members[std::string(part)];
    }
    if (element) enter_each();
  }
  return *node;
}

void FieldTable::add(std::string_view below, std::span<const Field> fields) {
  for (const auto& field : fields) {
    std::string path(below);
    if (!path.empty() && !field.path.empty()) path += '.';
    path += field.path;
    node_at(path).field = field;
  }
}

void FieldTable::check(const json::Value& value, const Path& path, Findings& findings) const {
  check_members(root_, value.as_object(), path, findings);
}

}  // namespace muster::dialects
