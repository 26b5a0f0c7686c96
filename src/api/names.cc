#include "api/names.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::api {
namespace {

constexpr std::size_t kLabelLength = 63;
constexpr std::size_t kSubdomainLength = 253;
constexpr std::size_t kPortNameLength = 15;

using Verdict = std::optional<std::string>;

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower_alnum(char c) {
  return is_lower(c) || is_digit(c);
}
bool is_alnum(char c) {
  return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

bool is_dns_label(std::string_view text) {
  return !text.empty() && is_lower_alnum(text.front()) && is_lower_alnum(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_lower_alnum(c) || c == '-'; });
}

// The name part of a label key, and a label value that is not empty.
bool is_qualified_word(std::string_view text) {
  return !text.empty() && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::ranges::all_of(
             text, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

Verdict too_long(std::size_t size, std::size_t most) {
  if (size <= most) return std::nullopt;
  return fmt::format("must be no more than {} characters, it has {}", most, size);
}

}  // namespace

Verdict check_dns_label(std::string_view name) {
  if (auto verdict = too_long(name.size(), kLabelLength)) return verdict;
  if (is_dns_label(name)) return std::nullopt;
  return "must consist of lower case letters, digits and '-', and start and end with a letter or "
         "digit (like 'my-name' or '123-abc')";
}

Verdict check_dns_subdomain(std::string_view name) {
  if (auto verdict = too_long(name.size(), kSubdomainLength)) return verdict;
  if (std::ranges::all_of(split(name, '.'), is_dns_label)) return std::nullopt;
  return "must consist of lower case letters, digits, '-' and '.', and each part between dots must "
         "start and end with a letter or digit (like 'example.com')";
}

Verdict check_service_name(std::string_view name) {
  if (auto verdict = too_long(name.size(), kLabelLength)) return verdict;
  if (is_dns_label(name) && is_lower(name.front())) return std::nullopt;
  return "must consist of lower case letters, digits and '-', start with a letter and end with a "
         "letter or digit (like 'my-name' or 'abc-123')";
}

Verdict check_label_key(std::string_view key) {
  std::string_view word = key;
  if (const auto slash = key.find('/'); slash != std::string_view::npos) {
    if (auto verdict = check_dns_subdomain(key.substr(0, slash))) return "prefix " + *verdict;
    word = key.substr(slash + 1);
  }
  if (auto verdict = too_long(word.size(), kLabelLength)) return "name part " + *verdict;
  if (is_qualified_word(word)) return std::nullopt;
  return "name part must consist of letters, digits, '-', '_' and '.', and start and end with a "
         "letter or digit (like 'MyName' or 'example.com/my-name')";
}

Verdict check_label_value(std::string_view value) {
  if (auto verdict = too_long(value.size(), kLabelLength)) return verdict;
  if (value.empty() || is_qualified_word(value)) return std::nullopt;
  return "must be empty, or consist of letters, digits, '-', '_' and '.', and start and end with a "
         "letter or digit (like 'MyValue' or '12345')";
}

// Servers since 1.32 take every printable ASCII character; older ones say themselves what they
// refuse.
Verdict check_env_name(std::string_view name) {
  const auto printable = [](char c) { return c >= ' ' && c <= '~' && c != '='; };
  if (!name.empty() && std::ranges::all_of(name, printable)) return std::nullopt;
  return "must be one or more printable ASCII characters other than '=' (like 'MY_VAR')";
}

Verdict check_port_name(std::string_view name) {
  if (auto verdict = too_long(name.size(), kPortNameLength)) return verdict;
  if (is_dns_label(name) && std::ranges::any_of(name, is_lower) && !name.contains("--")) {
    return std::nullopt;
  }
  return "must consist of lower case letters, digits and single '-', with at least one letter, and "
         "start and end with a letter or digit (like 'http')";
}

}  // namespace muster::api
