#include "base/time.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/random.h"

namespace muster {
namespace {

using namespace std::chrono_literals;

TEST(Time, FormatsAsKubernetesDoes) {
  const Time time = Time(1'794'711'845s) + 6us;
  EXPECT_EQ(format_time(time), "2026-11-15T03:04:05Z");
  EXPECT_EQ(format_micro_time(time), "2026-11-15T03:04:05.000006Z");
  EXPECT_EQ(format_time(Time{}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(format_time(Time(-1s)), "1969-12-31T23:59:59Z");
}

TEST(Time, ReadsRfc3339) {
  const Time expected = Time(1'794'711'845s);
  const std::pair<const char*, Time> rows[] = {
      {"2026-11-15T03:04:05Z", expected},
      {"2026-11-15t03:04:05z", expected},
      {"2026-11-15T03:04:05+00:00", expected},
      {"2026-11-15T05:04:05+02:00", expected},
      {"2026-11-14T21:34:05-05:30", expected},
      {"2026-11-15T03:04:05.5Z", expected + 500ms},
      {"2026-11-15T03:04:05.000006Z", expected + 6us},
      {"2026-11-15T03:04:05.123456789999Z", expected + 123'456'789ns},
      {"2024-02-29T00:00:00Z", Time(1'709'164'800s)},
  };
  for (const auto& [text, time] : rows) {
    const auto parsed = parse_time(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, time) << text;
  }
}

TEST(Time, RefusesTheRest) {
  for (const char* text : {"",
                           "now",
                           "2026-11-15",
                           "2026-11-15T03:04:05",
                           "2026-11-15 03:04:05Z",
                           "2026-13-15T03:04:05Z",
                           "2026-02-29T03:04:05Z",
                           "2026-11-00T03:04:05Z",
                           "2026-11-15T24:04:05Z",
                           "2026-11-15T03:60:05Z",
                           "2026-11-15T03:04:60Z",
                           "2026-11-15T03:04:05+2:00",
                           "2026-11-15T03:04:05+24:00",
                           "2026-11-15T03:04:05Zx",
                           "2026-11-15T03:04:-5Z",
                           "0001-01-01T00:00:00Z",
                           "9999-12-31T23:59:59Z",
                           "1969-12-31T23:59:59Z",
                           "2161-01-01T00:00:00Z",
                           "2026-11-15T03:04:05.Z"}) {
    const auto parsed = parse_time(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::Parse);
  }
}

TEST(Time, RoundTrips) {
  SeededRng rng(2);
  for (int i = 0; i < 2'000; ++i) {
    const Time time = Time(std::chrono::microseconds(rng.below(6'000'000'000'000'000)));
    EXPECT_EQ(parse_time(format_micro_time(time)).value(), time);
    EXPECT_EQ(parse_time(format_time(time)).value(),
              std::chrono::floor<std::chrono::seconds>(time));
  }
}

TEST(Time, AnyNumberOfSecondsCanBeAddedToToday) {
  const Duration century = 24h * 365 * 100;
  const std::pair<std::int64_t, Duration> rows[] = {
      {0, 0s},
      {-5, -5s},
      {86'400, 24h},
      {9'999'999'999, century},
      {-9'999'999'999, -century},
      {std::numeric_limits<std::int64_t>::max(), century},
      {std::numeric_limits<std::int64_t>::min(), -century},
  };
  const Time today(1'794'711'845s);
  for (const auto& [seconds, duration] : rows) {
    EXPECT_EQ(seconds_saturating(seconds), duration) << seconds;
    EXPECT_EQ(today + seconds_saturating(seconds) > today, seconds > 0) << seconds;
  }
}

TEST(Time, AgesAsKubectlPrintsThem) {
  const std::pair<Duration, const char*> rows[] = {
      {-1s, "0s"},
      {0s, "0s"},
      {119s, "119s"},
      {2min, "2m"},
      {3min + 12s, "3m12s"},
      {10min + 5s, "10m"},
      {179min, "179m"},
      {3h, "3h"},
      {3h + 20min, "3h20m"},
      {8h + 20min, "8h"},
      {47h, "47h"},
      {48h, "2d"},
      {24h * 7 + 5h, "7d5h"},
      {24h * 8 + 5h, "8d"},
      {24h * 365, "365d"},
      {24h * 800, "2y70d"},
      {24h * 365 * 9, "9y"},
  };
  for (const auto& [age, text] : rows) EXPECT_EQ(format_age(age), text);
}

}  // namespace
}  // namespace muster
