#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace muster::trainer {

// The number that is all of `text`, or nothing: no signs, spaces or trailing letters are forgiven.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

template <class Number>
[[nodiscard]] std::optional<Number> parse_hexadecimal(std::string_view text) {
  Number number{};
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number, 16);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace muster::trainer
