#include "cli/fields/field_path.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/fields/schemas.h"
#include "dialects/check/findings.h"
#include "dialects/check/messages.h"

namespace muster::cli {
namespace {

using dialects::Path;

// Deeper than any object that we know; what is set so deep is walked by recursion later.
constexpr std::size_t kDeepest = 64;

FieldStep step_in_brackets(std::string_view text) {
  if (const auto index = parse_int(text); index && *index >= 0) {
    return static_cast<std::size_t>(*index);
  }
  return std::string(text);
}

std::vector<std::string_view> names_in(const json::Value& object) {
  std::vector<std::string_view> names;
  for (const auto& [name, ignored] : object.as_object()) names.push_back(name);
  return names;
}

// Walks schema and object together.
struct Walk {
  const json::Value* node;
  const json::Value* value;
  Path path;

  // What is unknown about the member.
  std::optional<plan::UnknownField> enter(const std::string& name, bool last) {
    const json::Value& here = resolve(*node);
    const auto unknown = [&](const json::Value& candidates) {
      return plan::UnknownField{
          .path = (path / name).text(),
          .meant = std::string(dialects::nearest(name, names_in(candidates)))};
    };
    if (const auto* member = here["properties"].as_object().find(name)) {
      node = member;
    } else if (!here["additionalProperties"].is_null()) {
      if (!last && (*value)[name].is_null()) return unknown(*value);
      node = &here["additionalProperties"];
    } else if (is_open(here)) {
      node = &here;
    } else {
      return unknown(here["properties"]);
    }
    value = &(*value)[name];
    path = path / name;
    return std::nullopt;
  }

  std::optional<plan::UnknownField> enter(std::size_t index, bool last) {
    const json::Value& here = resolve(*node);
    path = path[index];
    const bool there = index < value->as_array().size() + (last ? 1 : 0);
    if (!is_open(here) && here["items"].is_null()) return plan::UnknownField{.path = path.text()};
    if (!there) return plan::UnknownField{.path = path.text()};
    if (!is_open(here)) node = &here["items"];
    value = &(*value)[index];
    return std::nullopt;
  }
};

Result<json::Value*> enter(json::Value& value, const FieldStep& step, const FieldPath& path) {
  const auto wrong = [&](std::string_view why) {
    return fail(ErrorCode::BadRequest, fmt::format("{}: {}", path.text, why));
  };
  if (const auto* name = std::get_if<std::string>(&step)) {
    if (!value.is_null() && !value.is_object()) {
      return wrong(fmt::format("{} is looked for in a {}", *name, value.type_name()));
    }
    return &value[*name];
  }
  const auto index = std::get<std::size_t>(step);
  if (!value.is_null() && !value.is_array()) {
    return wrong(fmt::format("[{}] is looked for in a {}", index, value.type_name()));
  }
  json::Array& items = value.array();
  if (index > items.size()) {
    return wrong(fmt::format("there is no [{}]; the list has {} elements", index, items.size()));
  }
  if (index == items.size()) items.emplace_back();
  return &items[index];
}

void remove(json::Value& parent, const FieldStep& step) {
  if (const auto* name = std::get_if<std::string>(&step)) {
    if (parent.is_object()) parent.object().erase(*name);
  } else if (const auto index = std::get<std::size_t>(step);
             parent.is_array() && index < parent.array().size()) {
    parent.array().erase(parent.array().begin() + static_cast<std::ptrdiff_t>(index));
  }
}

}  // namespace

Result<FieldPath> FieldPath::parse(std::string_view text) {
  FieldPath path{.text = std::string(text), .steps = {}};
  const auto bad = [&] {
    return fail(ErrorCode::BadRequest,
                fmt::format("{} is no path of a field; write it as spec.template.spec, "
                            "containers[0].image or labels[example.org/team]",
                            dialects::in_quotes(text)));
  };
  bool fresh = true;  // a name must follow
  while (!text.empty()) {
    if (text.front() == '[') {
      const auto end = text.find(']');
      if (fresh || end == std::string_view::npos || end < 2) return bad();
      path.steps.push_back(step_in_brackets(text.substr(1, end - 1)));
      text.remove_prefix(end + 1);
    } else if (!fresh) {
      if (text.front() != '.') return bad();
      text.remove_prefix(1);
      fresh = true;
      if (text.empty()) return bad();
    } else {
      const auto name = text.substr(0, text.find_first_of(".["));
      if (name.empty()) return bad();
      path.steps.emplace_back(std::string(name));
      text.remove_prefix(name.size());
      fresh = false;
    }
  }
  if (path.steps.empty() || path.steps.size() > kDeepest) return bad();
  return path;
}

std::optional<plan::UnknownField> where_it_ends(const FieldPath& path, const json::Value& schema,
                                                const json::Value& object) {
  Walk walk{.node = &schema, .value = &object, .path = Path()};
  for (std::size_t i = 0; i < path.steps.size(); ++i) {
    const bool last = i + 1 == path.steps.size();
    auto end = std::visit([&](const auto& step) { return walk.enter(step, last); }, path.steps[i]);
    if (end) return end;
  }
  return std::nullopt;
}

Result<void> set_field(const FieldPath& path, json::Value value, json::Value& object) {
  json::Value* at = &object;
  for (std::size_t i = 0; i + 1 < path.steps.size(); ++i) {
    at = TRY(enter(*at, path.steps[i], path));
  }
  if (value.is_null()) {
    remove(*at, path.steps.back());
    return {};
  }
  *TRY(enter(*at, path.steps.back(), path)) = std::move(value);
  return {};
}

}  // namespace muster::cli
