#include "dialects/fields.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "api/names.h"
#include "api/quantity.h"
#include "base/strings.h"

namespace muster::dialects {
namespace {

std::string_view article_and_name(Type type) {
  switch (type) {
    case Type::Object:
    case Type::Open:
    case Type::Map:
      return "an object";
    case Type::List:
      return "a list";
    case Type::String:
      return "a string";
    case Type::Int32:
    case Type::Int64:
      return "a whole number";
    case Type::Bool:
      return "true or false";
    case Type::Quantity:
      return "a quantity such as 2, 500m or 1Gi";
  }
  return "something else";
}

bool has_type(Type type, const json::Value& value) {
  switch (type) {
    case Type::Object:
    case Type::Open:
    case Type::Map:
      return value.is_object();
    case Type::List:
      return value.is_array();
    case Type::String:
      return value.is_string();
    case Type::Int32:
    case Type::Int64:
      return value.is_int();
    case Type::Bool:
      return value.is_bool();
    case Type::Quantity:
      return value.is_string() || value.is_number();
  }
  return false;
}

std::string with_hint(std::string message, const Field& field) {
  if (!field.hint.empty()) message += fmt::format(" ({})", field.hint);
  return message;
}

std::string wrong_type(const Field& field, const json::Value& value) {
  std::string found = std::string(value.type_name());
  if (!field.secret && !value.is_object() && !value.is_array()) found += " " + shown(value);
  std::string message = fmt::format("must be {}, not the {}", article_and_name(field.type), found);
  if (field.type == Type::String && (value.is_number() || value.is_bool())) {
    message += "; put it in quotes";
  }
  return with_hint(std::move(message), field);
}

void check_range(const Field& field, std::int64_t number, const Path& path, Findings& findings) {
  const bool small = field.type == Type::Int32;
  const auto type_minimum =
      small ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int64_t>::min();
  const auto type_maximum =
      small ? std::numeric_limits<std::int32_t>::max() : std::numeric_limits<std::int64_t>::max();
  const std::int64_t minimum = field.minimum.value_or(type_minimum);
  const std::int64_t maximum = field.maximum.value_or(type_maximum);
  if (number < minimum) {
    findings.refuse(path, rules::kMinimum,
                    with_hint(fmt::format("must be at least {}, not {}", minimum, number), field));
  } else if (number > maximum) {
    findings.refuse(path, rules::kMaximum,
                    with_hint(fmt::format("must be at most {}, not {}", maximum, number), field));
  }
}

void check_allowed(const Field& field, std::string_view text, const Path& path,
                   Findings& findings) {
  const auto allowed = split(field.allowed, '|');
  if (std::ranges::find(allowed, text) != allowed.end()) return;
  std::vector<std::string> names;
  names.reserve(allowed.size());
  for (const auto name : allowed) names.emplace_back(name.empty() ? "\"\"" : std::string(name));
  findings.refuse(path, rules::kOneOf,
                  with_hint(fmt::format("{} is not one of {}{}", in_quotes(text), join(names, ", "),
                                        did_you_mean(text, allowed)),
                            field));
}

std::optional<std::string> check_host_path(std::string_view text) {
  if (!text.starts_with('/')) return "must be an absolute path such as /data";
  const auto parts = split(text, '/');
  if (std::ranges::find(parts, "..") != parts.end()) return "must not contain '..'";
  return std::nullopt;
}

// Plain names are Kubernetes' own; whatever a device plugin offers has a prefix.
std::optional<std::string> check_resource_name(std::string_view name) {
  static constexpr std::array<std::string_view, 3> kStandard = {"cpu", "memory",
                                                                "ephemeral-storage"};
  if (name.find('/') != std::string_view::npos) return api::check_label_key(name);
  if (std::ranges::find(kStandard, name) != kStandard.end()) return std::nullopt;
  if (name.starts_with("hugepages-")) return std::nullopt;
  return fmt::format(
      "must be cpu, memory, ephemeral-storage, hugepages-SIZE, or have a prefix such as "
      "nvidia.com/gpu{}",
      did_you_mean(name, {"cpu", "memory", "ephemeral-storage"}));
}

struct FormatCheck {
  Rule rule;
  std::optional<std::string> (*check)(std::string_view);
};

FormatCheck format_check(Format format) {
  switch (format) {
    case Format::DnsLabel:
      return {rules::kDnsLabel, api::check_dns_label};
    case Format::EnvName:
      return {rules::kEnvName, api::check_env_name};
    case Format::PortName:
      return {rules::kPortName, api::check_port_name};
    case Format::LabelKey:
      return {rules::kLabelKey, api::check_label_key};
    case Format::LabelValue:
      return {rules::kLabelValue, api::check_label_value};
    case Format::HostPath:
      return {rules::kHostPath, check_host_path};
    case Format::ResourceName:
      return {rules::kResourceName, check_resource_name};
    case Format::Any:
      break;
  }
  return {rules::kType, [](std::string_view) { return std::optional<std::string>(); }};
}

void check_format(Format format, std::string_view text, const Path& path, Findings& findings) {
  const auto [rule, check] = format_check(format);
  if (auto wrong = check(text)) {
    findings.refuse(path, rule, fmt::format("{}: {}", in_quotes(text), *wrong));
  }
}

void check_quantity(const json::Value& value, const Path& path, Findings& findings) {
  const auto quantity = api::Quantity::from(value);
  if (!quantity) {
    findings.refuse(
        path, rules::kQuantity,
        fmt::format("{} is not a quantity; write for example 2, 500m or 1Gi", shown(value)));
  } else if (*quantity < api::Quantity{}) {
    findings.refuse(path, rules::kQuantity,
                    fmt::format("{} is negative; must be at least 0", shown(value)));
  }
}

void check_scalar(const Field& field, const json::Value& value, const Path& path,
                  Findings& findings) {
  if (value.is_int() && field.type != Type::Quantity) {
    check_range(field, value.as_int(), path, findings);
  }
  if (field.type == Type::Quantity) check_quantity(value, path, findings);
  if (!value.is_string()) return;
  if (field.required && value.as_string().empty()) {
    findings.refuse(path, rules::kRequired, with_hint("must not be empty", field));
  } else if (!field.allowed.empty()) {
    check_allowed(field, value.as_string(), path, findings);
  } else if (field.format != Format::Any && !value.as_string().empty()) {
    check_format(field.format, value.as_string(), path, findings);
  }
}

constexpr std::size_t kLongestName = 253;

bool is_plain_member(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, [](char c) {
    return c > ' ' && c <= '~' && c != '.' && c != '[' && c != ']' && c != '/';
  });
}

}  // namespace

Path Path::operator/(std::string_view member) const {
  // Every field of every job gets a path, so the usual case is one plain concatenation. Label keys
  // and the like hold dots: they stand in brackets, as Kubernetes writes them.
  if (!is_plain_member(member)) {
    return Path(fmt::format("{}[{}]", text_, printable(member.substr(0, kLongestName))));
  }
  std::string text;
  text.reserve(text_.size() + 1 + member.size());
  text = text_;
  if (!text.empty()) text += '.';
  text += member;
  return Path(std::move(text));
}

Path Path::operator[](std::size_t index) const {
  return Path(text_ + "[" + fmt::to_string(index) + "]");
}

FieldCause Violation::cause() const {
  return {.field = path, .reason = std::string(rule.reason), .message = message};
}

void Findings::refuse(const Path& path, const Rule& rule, std::string message) {
  if (violations.size() >= kMostViolations) return;
  violations.push_back({.path = path.text(), .rule = rule, .message = std::move(message)});
}

void Findings::note_unknown(const Path& path, std::string_view suggestion) {
  if (unknown.size() >= kMostUnknown) return;
  unknown.push_back(fmt::format("{}: unknown field, ignored{}", path.text(), suggestion));
}

FieldTable::FieldTable(std::span<const Field> fields) {
  for (const auto& field : fields) {
    Node* node = &root_;
    for (auto part : split(field.path, '.')) {
      const bool element = part.ends_with("[]");
      if (element) part.remove_suffix(2);
      if (part == "*") {
        if (!node->each) node->each = std::make_unique<Node>();
        node = node->each.get();
      } else {
        node = &node->members[std::string(part)];
      }
      if (element) {
        if (!node->each) node->each = std::make_unique<Node>();
        node = node->each.get();
      }
    }
    node->field = &field;
  }
}

void FieldTable::check(const json::Value& value, const Path& path, Findings& findings) const {
  check_members(root_, value.as_object(), path, findings);
}

void FieldTable::check_node(const Node& node, const json::Value& value, const Path& path,
                            Findings& findings) {
  const Field& field = *node.field;
  if (!has_type(field.type, value)) {
    findings.refuse(path, rules::kType, wrong_type(field, value));
    return;
  }
  switch (field.type) {
    case Type::Object:
    case Type::Open:
      check_members(node, value.as_object(), path, findings);
      break;
    case Type::Map:
      for (const auto& [key, member] : value.as_object()) {
        check_format(field.keys, key, path / key, findings);
        if (node.each && !member.is_null()) check_node(*node.each, member, path / key, findings);
      }
      break;
    case Type::List:
      for (std::size_t i = 0; i < value.as_array().size(); ++i) {
        if (node.each) check_node(*node.each, value[i], path[i], findings);
      }
      break;
    default:
      check_scalar(field, value, path, findings);
  }
}

void FieldTable::check_members(const Node& node, const json::Object& object, const Path& path,
                               Findings& findings) {
  for (const auto& [name, value] : object) {
    const auto found = node.members.find(name);
    if (found == node.members.end()) {
      if (node.field != nullptr && node.field->type == Type::Open) continue;
      std::vector<std::string_view> known;
      known.reserve(node.members.size());
      for (const auto& [member, ignored] : node.members) known.push_back(member);
      findings.note_unknown(path / name, did_you_mean(name, known));
    } else if (!value.is_null()) {  // null is absence, as Kubernetes reads it
      check_node(found->second, value, path / name, findings);
    }
  }
  for (const auto& [name, child] : node.members) {
    if (!child.field->required) continue;
    const auto* value = object.find(name);
    if (value == nullptr || value->is_null()) {
      findings.refuse(path / name, rules::kRequired, with_hint("is required", *child.field));
    }
  }
}

}  // namespace muster::dialects
