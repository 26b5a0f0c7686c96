#include "cli/jobs/duration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using namespace std::chrono_literals;

TEST(Duration, IsWrittenAsInKubectl) {
  const std::vector<std::pair<std::string, Duration>> table = {
      {"2s", 2s},        {"90", 90s},      {"0", 0s},       {"0s", 0s},
      {"1m30s", 90s},    {"2h", 2h},       {"1.5h", 90min}, {"0.05", 50ms},
      {"1h0m5s", 3605s}, {"250ms", 250ms}, {"1d", 24h}};
  for (const auto& [text, expected] : table) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, expected) << text;
  }
}

TEST(Duration, AnythingElseSaysWhatWouldBeRight) {
  for (const char* text : {"", "s", "2x", "-1", "-1s", "1m30", "1 s", "1e3", "nan", "inf", ".",
                           "1..2s", "1s ", "999999999999h"}) {
    const auto parsed = parse_duration(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, ::testing::HasSubstr("30s, 1m30s or 2h")) << text;
  }
}

TEST(Duration, IsShownInTheFewestWords) {
  EXPECT_EQ(format_duration(2s), "2s");
  EXPECT_EQ(format_duration(90s), "1m30s");
  EXPECT_EQ(format_duration(2h), "2h");
  EXPECT_EQ(format_duration(50ms), "50ms");
}

}  // namespace
}  // namespace muster::cli
