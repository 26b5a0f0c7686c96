#include "yaml/scalar.h"

#include <gtest/gtest.h>

#include "json/write.h"
#include "yaml/yaml.h"

namespace muster::yaml {
namespace {

// What kubectl's own library makes of each text; recorded from it.
TEST(Scalar, IsUnderstoodAsKubectlDoes) {
  const std::pair<const char*, const char*> rows[] = {
      {"null", "null"},
      {"Null", "null"},
      {"NULL", "null"},
      {"~", "null"},
      {"", "null"},
      {"nUll", R"("nUll")"},
      {"true", "true"},
      {"True", "true"},
      {"TRUE", "true"},
      {"tRue", R"("tRue")"},
      {"yes", "true"},
      {"y", "true"},
      {"Y", "true"},
      {"on", "true"},
      {"ON", "true"},
      {"false", "false"},
      {"no", "false"},
      {"n", "false"},
      {"N", "false"},
      {"off", "false"},
      {"oFF", R"("oFF")"},
      {"0", "0"},
      {"-0", "0"},
      {"+7", "7"},
      {"007", "7"},
      {"0644", "420"},
      {"08", "8"},
      {"09.5", "9.5"},
      {"0o17", "15"},
      {"0O17", "15"},
      {"0o8", R"("0o8")"},
      {"0x1F", "31"},
      {"0X1f", "31"},
      {"-0x10", "-16"},
      {"+0x1", "1"},
      {"0x", R"("0x")"},
      {"0b101", "5"},
      {"-0b11", "-3"},
      {"0b2", R"("0b2")"},
      {"0b", R"("0b")"},
      {"1_000", "1000"},
      {"1__0_", "10"},
      {"_1", R"("_1")"},
      {"1_000.5", "1000.5"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"1.5", "1.5"},
      {"1.0", "1"},
      {"5.", "5"},
      {".5", "0.5"},
      {".5e3", "500"},
      {".5_0", "0.5"},
      {"._5", R"("._5")"},
      {".5_", R"(".5_")"},
      {".5__0", R"(".5__0")"},
      {"-.5", "-0.5"},
      {"+.5", "0.5"},
      {"1e3", "1000"},
      {"1E+3", "1000"},
      {"1e-3", "0.001"},
      {"1e-999", "0"},
      {"1e999", R"("1e999")"},
      {"-1e999", R"("-1e999")"},
      {"1e", R"("1e")"},
      {".", R"(".")"},
      {"-", R"("-")"},
      {"+", R"("+")"},
      {"--1", R"("--1")"},
      {"1.2.3", R"("1.2.3")"},
      {"0x1p3", R"("0x1p3")"},
      {"12:30:45", R"("12:30:45")"},
      {"2026-11-15", R"("2026-11-15")"},
      {"2026-11-15T03:04:05Z", R"("2026-11-15T03:04:05Z")"},
      {".iNF", R"(".iNF")"},
      {"<<", R"("<<")"},
      {"=", R"("=")"},
      {"16Gi", R"("16Gi")"},
      {"500m", R"("500m")"},
  };
  for (const auto& [text, json] : rows) {
    EXPECT_EQ(json::write(resolve(text).value), json) << text;
  }
}

TEST(Scalar, WholeNumbersBeyond64BitsKeepTheirSize) {
  EXPECT_EQ(resolve("9223372036854775808").value.as_double(), 0x1.0p63);
  EXPECT_EQ(resolve("18446744073709551616").value.as_double(), 0x1.0p64);
  EXPECT_EQ(resolve("-9223372036854775809").value.as_double(), -0x1.0p63);
  EXPECT_EQ(resolve("0x10000000000000000").type, ScalarType::String);
}

TEST(Scalar, NumbersThatJsonDoesNotHave) {
  for (const char* text : {".inf", ".Inf", "+.INF", "-.inf", ".nan", ".NaN", ".NAN"}) {
    EXPECT_EQ(resolve(text).type, ScalarType::NotFinite) << text;
    const auto documents = read(std::string("a: ") + text);
    ASSERT_FALSE(documents) << text;
    EXPECT_TRUE(documents.error().message.starts_with("line 1, column 4: ")) << text;
  }
}

}  // namespace
}  // namespace muster::yaml
