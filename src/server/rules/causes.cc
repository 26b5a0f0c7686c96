#include "server/rules/causes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"
#include "json/write.h"

namespace muster::server {
namespace {

// A huge value would drown the message.
std::string shown(const json::Value& value) {
  constexpr std::size_t kLongest = 256;
  std::string text = json::write(value);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "…";
  return text;
}

}  // namespace

void Causes::required(std::string field, std::string_view why) {
  list_.push_back(
      {.field = std::move(field),
       .reason = "FieldValueRequired",
       .message = why.empty() ? "Required value" : fmt::format("Required value: {}", why)});
}

void Causes::invalid(std::string field, const json::Value& value, std::string_view why) {
  list_.push_back({.field = std::move(field),
                   .reason = "FieldValueInvalid",
                   .message = fmt::format("Invalid value: {}: {}", shown(value), why)});
}

void Causes::unsupported(std::string field, const json::Value& value,
                         const std::vector<std::string>& supported) {
  std::string list;
  for (const std::string& each : supported)
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", each);
  list_.push_back(
      {.field = std::move(field),
       .reason = "FieldValueNotSupported",
       .message = fmt::format("Unsupported value: {}: supported values: {}", shown(value), list)});
}

void Causes::duplicate(std::string field, const json::Value& value) {
  list_.push_back({.field = std::move(field),
                   .reason = "FieldValueDuplicate",
                   .message = fmt::format("Duplicate value: {}", shown(value))});
}

void Causes::not_found(std::string field, const json::Value& value) {
  list_.push_back({.field = std::move(field),
                   .reason = "FieldValueNotFound",
                   .message = fmt::format("Not found: {}", shown(value))});
}

void Causes::forbidden(std::string field, std::string_view why) {
  list_.push_back({.field = std::move(field),
                   .reason = "FieldValueForbidden",
                   .message = fmt::format("Forbidden: {}", why)});
}

Result<void> Causes::verdict(std::string_view kind, std::string_view name) const {
  if (list_.empty()) return {};
  std::vector<std::string> parts;
  parts.reserve(list_.size());
  for (const FieldCause& cause : list_) {
    parts.push_back(cause.field.empty() ? cause.message
                                        : fmt::format("{}: {}", cause.field, cause.message));
  }
  const std::string all =
      parts.size() == 1 ? parts.front() : fmt::format("[{}]", join(parts, ", "));
  return fail(Error{.code = ErrorCode::Invalid,
                    .message = fmt::format("{} \"{}\" is invalid: {}", kind, name, all),
                    .causes = list_,
                    .retry_after = std::nullopt});
}

}  // namespace muster::server
