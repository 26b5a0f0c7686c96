#include "yaml/scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

namespace muster::yaml {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, text) != words.end();
}

std::optional<Scalar> resolve_word(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
  static constexpr std::array<std::string_view, 11> kTrue = {
      "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
  static constexpr std::array<std::string_view, 11> kFalse = {
      "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
  static constexpr std::array<std::string_view, 12> kNotFinite = {
      ".nan",  ".NaN",  ".NAN",  ".inf",  ".Inf",  ".INF",
      "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"};
  if (is_one_of(text, kNull)) return Scalar{.type = ScalarType::Null};
  if (is_one_of(text, kTrue)) return Scalar{.type = ScalarType::Boolean, .value = true};
  if (is_one_of(text, kFalse)) return Scalar{.type = ScalarType::Boolean, .value = false};
  if (is_one_of(text, kNotFinite)) return Scalar{.type = ScalarType::NotFinite};
  return std::nullopt;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct Radix {
  int base = 10;
  std::size_t prefix = 0;
};

Radix radix_of(std::string_view digits) {
  if (digits.size() < 2 || digits[0] != '0') return {};
  switch (digits[1]) {
    case 'x':
    case 'X':
      return {.base = 16, .prefix = 2};
    case 'o':
    case 'O':
      return {.base = 8, .prefix = 2};
    case 'b':
    case 'B':
      return {.base = 2, .prefix = 2};
    default:
      return {.base = 8, .prefix = 1};
  }
}

// Whole numbers beyond 64 bits are left to the floats.
std::optional<json::Value> whole_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const Radix radix = radix_of(text);
  text.remove_prefix(radix.prefix);
  std::uint64_t magnitude = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, magnitude, radix.base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (negative) {
    if (magnitude > kMost + 1) return std::nullopt;
    return json::Value(static_cast<std::int64_t>(-magnitude));
  }
  if (magnitude > kMost) return json::Value(static_cast<double>(magnitude));
  return json::Value(static_cast<std::int64_t>(magnitude));
}

// [-+]? ( .digits | digits [. digits*] ) [ e [-+]? digits ]
bool has_float_form(std::string_view text) {
  const auto take_digits = [&] {
    const auto count =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
    text.remove_prefix(count);
    return count > 0;
  };
  const auto take_sign = [&] {
    if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  };
  take_sign();
  const bool whole = take_digits();
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (!take_digits() && !whole) return false;
  } else if (!whole) {
    return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    take_sign();
    if (!take_digits()) return false;
  }
  return text.empty();
}

std::optional<json::Value> floating_number(const std::string& text) {
  if (!has_float_form(text)) return std::nullopt;
  // strtod and not from_chars: too small a number is zero here, not an error.
  const double number = std::strtod(text.c_str(), nullptr);
  if (!std::isfinite(number)) return std::nullopt;
  // On its way through JSON 3.0 becomes 3.
  if (std::trunc(number) == number && std::fabs(number) < 0x1.0p63) {
    return json::Value(static_cast<std::int64_t>(number));
  }
  return json::Value(number);
}

// Numbers that begin with a dot are read more strictly: 0_.5 is a number, ._5 and .5_ are not.
bool separates_digits(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    const bool between = is_digit(text[i - 1]) && i + 1 < text.size() && is_digit(text[i + 1]);
    if (text[i] == '_' && !between) return false;
  }
  return true;
}

}  // namespace

Scalar resolve(std::string_view text) {
  if (auto word = resolve_word(text)) return *std::move(word);
  const char first = text.front();
  const bool dot = first == '.';
  const bool may_be_number = is_digit(first) || first == '+' || first == '-';
  if (may_be_number || (dot && separates_digits(text))) {
    std::string digits(text);
    std::erase(digits, '_');
    if (auto number = dot ? std::nullopt : whole_number(digits)) {
      return {.type = ScalarType::Integer, .value = *std::move(number)};
    }
    if (auto number = floating_number(digits)) {
      return {.type = ScalarType::Float, .value = *std::move(number)};
    }
  }
  return {.type = ScalarType::String, .value = text};
}

}  // namespace muster::yaml
