#include "cli/jobs/duration.h"

#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cli {
namespace {

struct Unit {
  std::string_view name;
  double seconds;
};

// Longer names before those that they begin with.
constexpr std::array kUnits = {Unit{"ms", 1e-3}, Unit{"us", 1e-6}, Unit{"ns", 1e-9},
                               Unit{"d", 86400}, Unit{"h", 3600},  Unit{"m", 60},
                               Unit{"s", 1}};
constexpr double kMost = 100.0 * 366 * 86400;

// Takes a number off the front: digits, with a fraction or without.
std::optional<double> take_number(std::string_view& text) {
  const auto length = text.find_first_not_of("0123456789.");
  const std::string_view digits = text.substr(0, length);
  double number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number,
                                            std::chars_format::fixed);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  text.remove_prefix(digits.size());
  return number;
}

std::optional<double> take_unit(std::string_view& text) {
  for (const Unit& unit : kUnits) {
    if (!text.starts_with(unit.name)) continue;
    text.remove_prefix(unit.name.size());
    return unit.seconds;
  }
  return std::nullopt;
}

std::optional<double> seconds_in(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double sum = 0;
  for (bool first = true; !text.empty(); first = false) {
    const auto number = take_number(text);
    if (!number) return std::nullopt;
    if (first && text.empty()) return number;
    const auto unit = take_unit(text);
    if (!unit) return std::nullopt;
    sum += *number * *unit;
  }
  return sum;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const auto seconds = seconds_in(text);
  if (!seconds || *seconds > kMost) {
    return fail(ErrorCode::BadRequest,
                fmt::format("\"{}\" is not a time span like 30s, 1m30s or 2h", printable(text)));
  }
  return std::chrono::round<Duration>(std::chrono::duration<double>(*seconds));
}

std::string format_duration(Duration duration) {
  if (duration < std::chrono::seconds(1))
    return fmt::format("{}ms",
                       std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  std::string text;
  const auto add = [&](std::int64_t count, std::string_view unit) {
    if (count != 0) text += fmt::format("{}{}", count, unit);
  };
  add(whole / 3600, "h");
  add(whole / 60 % 60, "m");
  add(whole % 60, "s");
  return text;
}

}  // namespace muster::cli
