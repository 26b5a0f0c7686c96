#include "base/strings.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace muster {
namespace {

using Parts = std::vector<std::string_view>;

TEST(Strings, Split) {
  EXPECT_EQ(split("a,b,,c", ','), (Parts{"a", "b", "", "c"}));
  EXPECT_EQ(split("", ','), Parts{""});
  EXPECT_EQ(split(",", ','), (Parts{"", ""}));
}

TEST(Strings, Join) {
  EXPECT_EQ(join({"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(join({"", "a"}, ","), ",a");
  EXPECT_EQ(join({}, ","), "");
}

TEST(Strings, TrimAndCase) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(to_lower("AbC-Ä"), "abc-Ä");
  EXPECT_TRUE(equal_ignoring_case("Content-TYPE", "content-type"));
  EXPECT_FALSE(equal_ignoring_case("a", "ab"));
  EXPECT_FALSE(equal_ignoring_case("[", "{"));
}

TEST(Strings, ParseInt) {
  EXPECT_EQ(parse_int("0"), 0);
  EXPECT_EQ(parse_int("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.0", "0x1", "9223372036854775808"}) {
    EXPECT_EQ(parse_int(text), std::nullopt) << text;
  }
}

TEST(Strings, PercentEncoding) {
  EXPECT_EQ(percent_encode("a-b._~ /=,&ä"), "a-b._~%20%2F%3D%2C%26%C3%A4");
  EXPECT_EQ(percent_decode("a%2Fb%2f+c"), "a/b/ c");
  for (const char* text : {"%", "%4", "%4g", "%%41", "a%"}) {
    EXPECT_EQ(percent_decode(text), std::nullopt) << text;
  }
}

std::string random_bytes(Rng& rng) {
  std::string bytes;
  for (auto count = rng.below(40); count > 0; --count) bytes += static_cast<char>(rng.below(256));
  return bytes;
}

TEST(Strings, EncodingsRoundTrip) {
  SeededRng rng(1);
  for (int i = 0; i < 1'000; ++i) {
    const std::string bytes = random_bytes(rng);
    EXPECT_EQ(percent_decode(percent_encode(bytes)), bytes);
    EXPECT_EQ(base64_decode(base64_encode(bytes)), bytes);
  }
}

TEST(Strings, Base64) {
  EXPECT_EQ(base64_encode(""), "");
  EXPECT_EQ(base64_encode("f"), "Zg==");
  EXPECT_EQ(base64_encode("fo"), "Zm8=");
  EXPECT_EQ(base64_encode("foo"), "Zm9v");
  EXPECT_EQ(base64_decode("Zm9v\nZg==\n"), "foof");
  for (const char* text : {"Z", "Zg", "Zg=", "Zg=a", "Zg===", "====", "Z g=", "Zm9v!"}) {
    EXPECT_EQ(base64_decode(text), std::nullopt) << text;
  }
}

TEST(Strings, Utf8) {
  for (const char* text : {"", "a", "ä", "€", "😀", "\u0080", "\U0010ffff"}) {
    EXPECT_TRUE(is_utf8(text)) << text;
  }
  for (const char* text : {"\x80", "\xc3", "\xc3(", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80",
                           "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "\xff", "a\xe2\x82"}) {
    EXPECT_FALSE(is_utf8(text));
  }
}

TEST(Strings, PrintableTakesTheTeethOutOfTerminalText) {
  EXPECT_EQ(printable("a\tb\nä😀"), "a\tb\nä😀");
  EXPECT_EQ(printable("\x1b[31mred\x7f\r"), "?[31mred??");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\ufffd31m");
  EXPECT_EQ(printable("a\xff"
                      "b"),
            "a\ufffdb");
}

TEST(Strings, HashIsTheSameEverywhere) {
  EXPECT_EQ(stable_hash(""), 0xcbf29ce484222325U);
  EXPECT_EQ(stable_hash("a"), 0xaf63dc4c8601ec8cU);
}

}  // namespace
}  // namespace muster
