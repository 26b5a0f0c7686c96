#include "dialects/check/values.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "api/names.h"
#include "api/quantity.h"
#include "base/strings.h"
#include "dialects/check/messages.h"

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
    case Type::NumberOrText:
      return "a whole number";
    case Type::Time:
      return "a time";
  }
  return "something else";
}

void check_range(const Field& field, std::int64_t number, const Path& path, Findings& findings) {
  const bool small = field.type != Type::Int64;
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

}  // namespace

std::optional<std::int64_t> whole_number(const json::Value& value) {
  if (value.is_int()) return value.as_int();
  return value.is_string() ? parse_int(value.as_string()) : std::nullopt;
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
    case Type::NumberOrText:
      return value.is_int() || (value.is_string() && parse_int(value.as_string()));
    case Type::Time:
      return value.is_string();
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

void check_format(Format format, std::string_view text, const Path& path, Findings& findings) {
  const auto [rule, check] = format_check(format);
  if (auto wrong = check(text)) {
    findings.refuse(path, rule, fmt::format("{}: {}", in_quotes(text), *wrong));
  }
}

void check_scalar(const Field& field, const json::Value& value, const Path& path,
                  Findings& findings) {
  if (field.type == Type::Quantity) {
    check_quantity(value, path, findings);
  } else if (const auto number = whole_number(value); number && field.type != Type::String) {
    check_range(field, *number, path, findings);
  }
  if (!value.is_string()) return;
  if (field.required && value.as_string().empty()) {
    findings.refuse(path, rules::kRequired, with_hint("must not be empty", field));
  } else if (!field.allowed.empty()) {
    check_allowed(field, value.as_string(), path, findings);
  } else if (field.format != Format::Any && !value.as_string().empty()) {
    check_format(field.format, value.as_string(), path, findings);
  }
}

}  // namespace muster::dialects
