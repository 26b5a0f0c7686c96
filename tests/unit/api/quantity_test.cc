#include "api/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace muster::api {
namespace {

TEST(Quantity, ReadsWhatManifestsWrite) {
  const std::pair<const char*, std::int64_t> rows[] = {
      {"0", 0},
      {"1", 1000},
      {"+1", 1000},
      {"-1", -1000},
      {"500m", 500},
      {"1.5", 1500},
      {".5", 500},
      {"5.", 5000},
      {"0.1", 100},
      {"1k", 1'000'000},
      {"1Ki", 1'024'000},
      {"1.5Ki", 1'536'000},
      {"16Gi", 17'179'869'184'000},
      {"1M", 1'000'000'000},
      {"2Mi", 2'097'152'000},
      {"1G", 1'000'000'000'000},
      {"1T", 1'000'000'000'000'000},
      {"1Ti", 1'099'511'627'776'000},
      {"1P", 1'000'000'000'000'000'000},
      {"1e3", 1'000'000},
      {"1E3", 1'000'000},
      {"1e+3", 1'000'000},
      {"25e-2", 250},
      {"007", 7000},
      // Less than a thousandth counts as one: nothing that was asked for is lost.
      {"100u", 1},
      {"1n", 1},
      {"0.0001", 1},
      {"1.00000000000000000000000000000000001", 1001},
      {"-1n", -1},
      {"1e-400", 1},
      {"0e9999", 0},
  };
  for (const auto& [text, milli] : rows) {
    const auto quantity = Quantity::parse(text);
    ASSERT_TRUE(quantity) << text;
    EXPECT_EQ(quantity->milli(), milli) << text;
  }
}

TEST(Quantity, RefusesTheRest) {
  for (const char* text :
       {"",     "m",     "-",   "+",   ".",   "1.2.3", "1 Gi",  "1gi",
        "1KI",  "1K",    "1mi", "e3",  "1e",  "1e+",   "1e+-3", "1e3Ki",
        "0x10", "1_000", "--1", "NaN", "inf", "1Gi ",  " 1",    "1e99999999999999999999"}) {
    const auto quantity = Quantity::parse(text);
    ASSERT_FALSE(quantity) << text;
    EXPECT_EQ(quantity.error().code, ErrorCode::Invalid);
    EXPECT_TRUE(quantity.error().message.contains("16Gi"));
  }
  EXPECT_FALSE(Quantity::parse(std::string(1'000'000, '1')));
}

TEST(Quantity, LargeOnesAreCappedAsInKubernetes) {
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(Quantity::parse("9223372036854775807")->whole(), kMost);
  EXPECT_EQ(Quantity::parse("9223372036854775806")->whole(), kMost - 1);
  EXPECT_EQ(Quantity::parse("9223372036854775808")->whole(), kMost);
  EXPECT_EQ(Quantity::parse("8Ei")->whole(), kMost);
  EXPECT_EQ(Quantity::parse("7Ei")->whole(), 7 * (std::int64_t{1} << 60U));
  EXPECT_EQ(Quantity::parse("9999999999999999999Ei")->whole(), kMost);
  EXPECT_EQ(Quantity::parse("1e100")->whole(), kMost);
  EXPECT_EQ(Quantity::parse("1e9999")->whole(), kMost);
  EXPECT_EQ(Quantity::parse(std::string(200, '9'))->whole(), kMost);
  EXPECT_EQ(Quantity::parse("-1e100")->whole(), -kMost);
  EXPECT_EQ(Quantity::parse("1E")->milli(), kMost);  // 10^21 thousandths
}

TEST(Quantity, ComesFromStringsAndNumbers) {
  EXPECT_EQ(Quantity::from(json::Value(2))->milli(), 2000);
  EXPECT_EQ(Quantity::from(json::Value(0.25))->milli(), 250);
  EXPECT_EQ(Quantity::from(json::Value(1e20))->whole(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(Quantity::from(json::Value("250m"))->milli(), 250);
  EXPECT_FALSE(Quantity::from(json::Value(true)));
  EXPECT_FALSE(Quantity::from(json::Value()));
}

TEST(Quantity, AddsAndCompares) {
  const auto quantity = [](const char* text) { return Quantity::parse(text).value(); };
  EXPECT_EQ(quantity("500m") + quantity("1.5"), quantity("2"));
  EXPECT_EQ((quantity("1") - quantity("1500m")).milli(), -500);
  EXPECT_LT(quantity("1000M"), quantity("1000Mi"));
  EXPECT_EQ(quantity("1Ki"), Quantity::of(1024));
}

TEST(Quantity, WholeRoundsUp) {
  EXPECT_EQ(Quantity::parse("1100m")->whole(), 2);
  EXPECT_EQ(Quantity::parse("-1100m")->whole(), -1);
}

TEST(Quantity, TextReadsBackTheSame) {
  for (const char* text :
       {"0", "2", "1500m", "-500m", "1Gi", "9223372036854775807", "9223372036854775807m",
        "9223372036854775808m", "10333333333333333.3315", "-10333333333333333.3315"}) {
    const auto quantity = Quantity::parse(text).value();
    EXPECT_EQ(Quantity::parse(quantity.text()).value(), quantity) << text;
  }
  EXPECT_EQ(Quantity::parse("1.5")->text(), "1500m");
  EXPECT_EQ(Quantity::parse("1Gi")->text(), "1073741824");
  EXPECT_EQ(Quantity::parse("10333333333333333.3315")->text(), "10333333333333334");
}

}  // namespace
}  // namespace muster::api
