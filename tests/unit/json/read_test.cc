#include "json/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "json/write.h"

namespace muster::json {
namespace {

TEST(Read, GivesBackWhatWasWritten) {
  for (const char* text :
       {"null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "1.5",
        "1e-07", R"("")", R"("aä€😀")", R"("\u0000\u001f\"\\\n")", "[]", "{}", "[1,[2,[3]]]",
        R"({"z":1,"a":{"b":[null,true]},"":0})"}) {
    const auto value = read(text);
    ASSERT_TRUE(value) << text;
    EXPECT_EQ(write(*value), text);
  }
}

TEST(Read, UnderstandsEscapes) {
  EXPECT_EQ(read(R"("\ud83d\ude00\u00e4\/\b\f")")->as_string(), "😀ä/\b\f");
  EXPECT_EQ(read(R"("a\u0000b")")->as_string(), std::string("a\0b", 3));
}

TEST(Read, LargeNumbersKeepTheirSize) {
  EXPECT_EQ(read("9223372036854775808")->as_double(), 0x1.0p63);
  EXPECT_EQ(read("18446744073709551615")->as_double(), 0x1.0p64);
  EXPECT_EQ(read("1e300")->as_double(), 1e300);
  EXPECT_TRUE(read("1.0")->is_double());
  EXPECT_EQ(read("1.0")->as_int(), 1);
}

TEST(Read, RefusesWhatIsNotJson) {
  const std::string_view texts[] = {"",
                                    " ",
                                    "{",
                                    "}",
                                    "[1,]",
                                    "{\"a\":}",
                                    "{a:1}",
                                    "'a'",
                                    "01",
                                    "+1",
                                    ".5",
                                    "1.",
                                    "NaN",
                                    "Infinity",
                                    "nul",
                                    "\"a",
                                    "\"\t\"",
                                    "1 2",
                                    "{} x",
                                    "\"\\x41\"",
                                    "\"\\ud83d\"",
                                    "[1 2]",
                                    "{\"a\" 1}",
                                    "1e999",
                                    "// c\n1",
                                    "\"\\u12\"",
                                    "[\"a\", ]",
                                    "18446744073709551616",
                                    "-9223372036854775809"};
  for (const auto text : texts) {
    const auto value = read(text);
    ASSERT_FALSE(value) << text;
    EXPECT_EQ(value.error().code, ErrorCode::Parse) << text;
  }
}

TEST(Read, RefusesBytesThatAreNoText) {
  const std::string_view texts[] = {"\"\xff\"",
                                    "\"\xc3\x28\"",
                                    "\"\xed\xa0\x80\"",
                                    "\"\xc0\xaf\"",
                                    "\"\xf4\x90\x80\x80\"",
                                    std::string_view("\"a\0b\"", 5),
                                    std::string_view("1\0", 2),
                                    std::string_view("\0", 1),
                                    std::string_view("\xff\xfe"
                                                     "1\0",
                                                     4)};
  for (const auto text : texts) EXPECT_FALSE(read(text)) << testing::PrintToString(text);
}

TEST(Read, RefusesRepeatedKeys) {
  EXPECT_EQ(read(R"({"a":1,"b":2,"a":3})").error().message,
            "key \"a\" appears twice in one object");
  EXPECT_FALSE(read(R"({"a":1,"\u0061":2})"));
  EXPECT_TRUE(read(R"([{"a":1},{"a":1}])"));
  EXPECT_TRUE(read(R"({"a":{"a":1}})"));
}

TEST(Limits, DepthIsExact) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_TRUE(read(nested(64)));
  EXPECT_EQ(read(nested(65)).error().code, ErrorCode::TooLarge);
  EXPECT_EQ(read(nested(66)).error().code, ErrorCode::TooLarge);
  EXPECT_EQ(read(nested(10'000)).error().message, "nested deeper than 64 levels");
  EXPECT_FALSE(read(std::string(1'000'000, '[')));
  EXPECT_TRUE(read(nested(3), {.depth = 3}));
  EXPECT_FALSE(read(nested(4), {.depth = 3}));
}

TEST(Limits, Size) {
  const std::string large(100U << 20U, ' ');
  EXPECT_EQ(read(large).error().message, "104857600 bytes of JSON, at most 3145728 are read");
  EXPECT_TRUE(read("[1]", {.bytes = 3}));
  EXPECT_EQ(read("[12]", {.bytes = 3}).error().code, ErrorCode::TooLarge);
}

TEST(Limits, Values) {
  EXPECT_TRUE(read("[1,2,3]", {.nodes = 4}));
  EXPECT_EQ(read("[1,2,3]", {.nodes = 3}).error().message, "more than 3 values");
  std::string many = "[0";
  for (int i = 0; i < 200'000; ++i) many += ",0";
  EXPECT_EQ(read(many + "]").error().code, ErrorCode::TooLarge);
}

TEST(Limits, ManyMembersAreReadQuickly) {
  std::string many = "{\"k\":0";
  for (int i = 0; i < 90'000; ++i) many += ",\"k" + std::to_string(i) + "\":0";
  const auto value = read(many + "}");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->as_object().size(), 90'001U);
  EXPECT_EQ(*value, *read(many + "}"));
  Value turned = *value;
  std::ranges::reverse(turned.object());
  EXPECT_EQ(*value, turned);
}

}  // namespace
}  // namespace muster::json
