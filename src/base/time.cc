#include "base/time.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace muster {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

struct Civil {
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<nanoseconds> clock;
};

Civil civil(Time time) {
  const auto day = floor<days>(time);
  return {.date = std::chrono::year_month_day(day),
          .clock = std::chrono::hh_mm_ss<nanoseconds>(time - day)};
}

std::string date_and_seconds(const Civil& at) {
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(at.date.year()),
                     static_cast<unsigned>(at.date.month()), static_cast<unsigned>(at.date.day()),
                     at.clock.hours().count(), at.clock.minutes().count(),
                     at.clock.seconds().count());
}

// Reads digits at a fixed position; -1 when something else stands there.
int digits(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return -1;
  int value = 0;
  const char* first = text.data() + at;
  const auto [end, error] = std::from_chars(first, first + count, value);
  return error == std::errc{} && end == first + count && *first != '-' ? value : -1;
}

// The offset after the seconds: Z, z, +hh:mm or -hh:mm.
bool parse_offset(std::string_view text, minutes& offset) {
  if (text == "Z" || text == "z") return true;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return false;
  const int hour = digits(text, 1, 2);
  const int minute = digits(text, 4, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return false;
  offset = hours(hour) + minutes(minute);
  if (text[0] == '-') offset = -offset;
  return true;
}

}  // namespace

Time SystemClock::now() const {
  return std::chrono::time_point_cast<nanoseconds>(std::chrono::system_clock::now());
}

Monotonic SystemClock::monotonic() const {
  // Not CLOCK_MONOTONIC, which stands still while the machine sleeps: what others did meanwhile
  // took time.
  timespec now{};
  static_cast<void>(::clock_gettime(CLOCK_BOOTTIME, &now));
  return {seconds(now.tv_sec) + nanoseconds(now.tv_nsec)};
}

Duration seconds_saturating(std::int64_t seconds_wanted) {
  constexpr std::int64_t kMost = 100LL * 365 * 24 * 3600;
  return seconds(std::clamp(seconds_wanted, -kMost, kMost));
}

std::string format_time(Time time) {
  return date_and_seconds(civil(time)) + "Z";
}

std::string format_micro_time(Time time) {
  const Civil at = civil(time);
  const auto fraction = std::chrono::duration_cast<microseconds>(at.clock.subseconds());
  return fmt::format("{}.{:06}Z", date_and_seconds(at), fraction.count());
}

Result<Time> parse_time(std::string_view text) {
  const auto bad = [&] {
    return fail(ErrorCode::Parse,
                fmt::format("\"{}\" is not a time like 2006-01-02T15:04:05Z", text.substr(0, 64)));
  };
  if (text.size() < 20 || text[4] != '-' || text[7] != '-' ||
      (text[10] != 'T' && text[10] != 't') || text[13] != ':' || text[16] != ':') {
    return bad();
  }
  const std::array<int, 6> part = {digits(text, 0, 4),  digits(text, 5, 2),  digits(text, 8, 2),
                                   digits(text, 11, 2), digits(text, 14, 2), digits(text, 17, 2)};
  for (const int value : part) {
    if (value < 0) return bad();
  }
  const std::chrono::year_month_day date{std::chrono::year(part[0]),
                                         std::chrono::month(static_cast<unsigned>(part[1])),
                                         std::chrono::day(static_cast<unsigned>(part[2]))};
  // Nanoseconds reach 292 years: any two of these times may be subtracted, and a hundred years (see
  // seconds_saturating) be added to any of them.
  if (!date.ok() || part[0] < 1970 || part[0] > 2160) return bad();
  if (part[3] > 23 || part[4] > 59 || part[5] > 59) return bad();
  std::size_t at = 19;
  nanoseconds fraction{};
  if (text[at] == '.') {
    nanoseconds unit = seconds(1);
    if (digits(text, at + 1, 1) < 0) return bad();
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      unit /= 10;
      fraction += unit * (text[at] - '0');
    }
  }
  minutes offset{};
  if (!parse_offset(text.substr(at), offset)) return bad();
  return Time(std::chrono::sys_days(date)) + hours(part[3]) + minutes(part[4]) + seconds(part[5]) +
         fraction - offset;
}

std::string format_age(Duration age) {
  const auto total = std::chrono::duration_cast<seconds>(age).count();
  if (total < 0) return "0s";
  if (total < 120) return fmt::format("{}s", total);
  const auto minute = total / 60;
  if (minute < 10) {
    return total % 60 == 0 ? fmt::format("{}m", minute) : fmt::format("{}m{}s", minute, total % 60);
  }
  if (minute < 180) return fmt::format("{}m", minute);
  const auto hour = total / 3600;
  if (hour < 8) {
    return minute % 60 == 0 ? fmt::format("{}h", hour) : fmt::format("{}h{}m", hour, minute % 60);
  }
  if (hour < 48) return fmt::format("{}h", hour);
  const auto day = hour / 24;
  if (day < 8)
    return hour % 24 == 0 ? fmt::format("{}d", day) : fmt::format("{}d{}h", day, hour % 24);
  if (day < std::int64_t{2} * 365) return fmt::format("{}d", day);
  const auto year = day / 365;
  if (year < 8 && day % 365 != 0) return fmt::format("{}y{}d", year, day % 365);
  return fmt::format("{}y", year);
}

}  // namespace muster
