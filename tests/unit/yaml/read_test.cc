#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/write.h"
#include "yaml/yaml.h"

namespace muster::yaml {
namespace {

// All documents as JSON, or the error's message.
std::string read_text(std::string_view text, const ReadLimits& limits = {}) {
  const auto documents = read(text, limits);
  if (!documents) return documents.error().message;
  std::string all;
  for (const auto& document : *documents) {
    if (!all.empty()) all += ' ';
    all += json::write(document.value);
  }
  return all;
}

struct Row {
  std::string_view text;
  std::string_view result;
};

TEST(Read, Structures) {
  const Row rows[] = {
      {"a: 1\nb:\n  c: [x, 2, {d: e}]\n", R"({"a":1,"b":{"c":["x",2,{"d":"e"}]}})"},
      {"- a\n- - b\n  - c\n- d: e\n  f: g\n", R"(["a",["b","c"],{"d":"e","f":"g"}])"},
      {"a:\n- 1\n- 2\nb:\n", R"({"a":[1,2],"b":null})"},
      {"a: |\n  line 1\n  line 2\nb: >-\n  folded\n  text\n",
       R"({"a":"line 1\nline 2\n","b":"folded text"})"},
      {"# only a comment\na: b # and another\n", R"({"a":"b"})"},
      {"plain", R"("plain")"},
      {"", ""},
      {"# nothing\n", ""},
      {"a: \"\\u00e4\\x41\\n\"", R"({"a":"äA\n"})"},
      {"%YAML 1.1\n---\na: b\n", R"({"a":"b"})"},
      {"? a\n: b\n", R"({"a":"b"})"},
      {"a: {}\nb: []\nc: ''\n", R"({"a":{},"b":[],"c":""})"},
  };
  for (const Row& row : rows) EXPECT_EQ(read_text(row.text), row.result) << row.text;
}

TEST(Read, QuotedScalarsAreStrings) {
  EXPECT_EQ(read_text("['12', \"yes\", '', \"~\"]"), R"(["12","yes","","~"])");
  EXPECT_EQ(read_text("a: |-\n  12\n"), R"({"a":"12"})");
}

TEST(Read, TagsAreHonoured) {
  const Row rows[] = {
      {"!!str 12", R"("12")"},
      {"!!str", R"("")"},
      {"!!int \"12\"", "12"},
      {"!!float 3", "3"},
      {"!!float 3.5", "3.5"},
      {"!!bool yes", "true"},
      {"! 12", R"("12")"},
      {"!!timestamp 2026-11-15", R"("2026-11-15")"},
      {"!!map {a: !!seq [1]}", R"({"a":[1]})"},
      {"!!int 1.5", "line 1, column 1: \"1.5\" is not what !!int promises"},
      {"!!bool maybe", "line 1, column 1: \"maybe\" is not what !!bool promises"},
      {"!!null x", "line 1, column 1: \"x\" is not what !!null promises"},
      {"!!binary aGk=", "line 1, column 1: tag !!binary is not supported"},
      {"!local x", "line 1, column 1: tag !local is not supported"},
      {"!!set {a: b}", "line 1, column 1: tag !!set is not supported here"},
      {"!!map [a]", "line 1, column 1: tag !!map is not supported here"},
  };
  for (const Row& row : rows) EXPECT_EQ(read_text(row.text), row.result) << row.text;
}

TEST(Read, KeysBecomeStringsAsWithKubectl) {
  EXPECT_EQ(read_text("{1: a, true: b, 1.5: c, y_: d, 0x10: e, 'on': f}"),
            R"({"1":"a","true":"b","1.5":"c","y_":"d","16":"e","on":"f"})");
  EXPECT_EQ(read_text("~: a"), "line 1, column 1: a key cannot be null");
  EXPECT_EQ(read_text("? [a]\n: b"), "line 1, column 3: a key cannot be a list or a mapping");
  EXPECT_EQ(read_text("x: &x [a]\n*x : b"),
            "line 2, column 1: a key cannot be a list or a mapping");
  EXPECT_EQ(read_text("&x a: 1\nb: *x"), R"({"a":1,"b":"a"})");
}

TEST(Read, ARepeatedKeyIsAnErrorThatNamesItsPlace) {
  EXPECT_EQ(read_text("spec:\n  a: 1\n  b: 2\n  a: 3\n"),
            "line 4, column 3: key \"a\" appears twice in one mapping");
  EXPECT_EQ(read_text("1: a\n'1': b\n"),
            "line 2, column 1: key \"1\" appears twice in one mapping");
  EXPECT_EQ(read_text(R"({"a":1,"a":2})"),
            "line 1, column 8: key \"a\" appears twice in one mapping");
}

TEST(Read, DocumentsKnowWhereTheyBegin) {
  const auto documents = read("---\n# first\na: 1\n---\n---\n# empty\n---\nb: 2\n...\n---\nnull\n");
  ASSERT_TRUE(documents);
  ASSERT_EQ(documents->size(), 2U);
  EXPECT_EQ((*documents)[0].line, 3U);
  EXPECT_EQ((*documents)[1].line, 8U);
}

TEST(Read, Anchors) {
  const Row rows[] = {
      {"a: &x {k: v}\nb: *x\n", R"({"a":{"k":"v"},"b":{"k":"v"}})"},
      {"a: &x 1\nb: &x 2\nc: *x\n", R"({"a":1,"b":2,"c":2})"},
      {"a: *x\n", "line 1, column 4: alias *x has no anchor before it"},
      {"a: &x [*x]\n", "line 1, column 8: alias *x has no anchor before it"},
      {"--- &x a\n--- *x\n", "line 2, column 5: alias *x has no anchor before it"},
  };
  for (const Row& row : rows) EXPECT_EQ(read_text(row.text), row.result) << row.text;
}

TEST(Read, MergeKeys) {
  const Row rows[] = {
      {"- &a {x: 1, y_: 2}\n- <<: *a\n  x: 3\n", R"([{"x":1,"y_":2},{"x":3,"y_":2}])"},
      {"- &a {x: 1}\n- x: 3\n  <<: *a\n", R"([{"x":1},{"x":3}])"},
      {"- &a {x: 1}\n- &b {x: 2, z: 3}\n- <<: [*a, *b]\n",
       R"([{"x":1},{"x":2,"z":3},{"x":1,"z":3}])"},
      {"<<: {x: 1}\na: 2\n", R"({"a":2,"x":1})"},
      {"'<<': {x: 1}\n", R"({"<<":{"x":1}})"},
      {"<<: 1\n", "line 1, column 1: << merges a mapping or a list of mappings"},
      {"<<: [{x: 1}, 2]\n", "line 1, column 1: << merges a mapping or a list of mappings"},
  };
  for (const Row& row : rows) EXPECT_EQ(read_text(row.text), row.result) << row.text;
}

TEST(Read, JsonIsYaml) {
  EXPECT_EQ(read_text("\n {\"a\": [1, 2.5, \"\\ud83d\\ude00\\/\", null, true]}\n"),
            "{\"a\":[1,2.5,\"😀/\",null,true]}");
  EXPECT_EQ(read("\n\n{\"a\": 1}")->front().line, 3U);
  EXPECT_EQ(read_text("{\"a\": 1}\n---\n{\"b\": 2}\n"), R"({"a":1} {"b":2})");
  EXPECT_EQ(read_text("{a: 1}"), R"({"a":1})");
  const std::string long_key(2000, 'k');
  EXPECT_EQ(read_text("{\"" + long_key + "\": 1}"), "{\"" + long_key + "\":1}");
}

TEST(Read, SyntaxErrorsNameLineAndColumn) {
  const Row rows[] = {
      {"a: b: c\n", "line 1, column 5: mapping values are not allowed in this context"},
      {"a:\n\tb: c\n",
       "line 2, column 1: found character that cannot start any token while "
       "scanning for the next token that begins on line 2"},
      {"a: [1, 2\nb: 3\n",
       "line 2, column 2: did not find expected ',' or ']' while parsing a flow "
       "sequence that begins on line 1"},
      {"a: 'open\n",
       "line 2, column 1: found unexpected end of stream while scanning a quoted "
       "scalar that begins on line 1"},
  };
  for (const Row& row : rows) EXPECT_EQ(read_text(row.text), row.result) << row.text;
}

TEST(Read, BytesThatAreNoText) {
  const auto starts = [](std::string_view text, std::string_view place) {
    const auto documents = read(text);
    ASSERT_FALSE(documents);
    EXPECT_EQ(documents.error().code, ErrorCode::Parse);
    EXPECT_THAT(documents.error().message, testing::StartsWith(place));
  };
  starts("a: 1\nb: \xff\n", "line 2, column 4: ");
  starts("a: \xc3\x28\n", "line 1, column 5: ");
  starts("a: \xed\xa0\x80\n", "line 1, column 4: ");                      // a surrogate
  starts("a: \xc0\xaf\n", "line 1, column 4: ");                          // overlong
  starts(std::string_view("a: 1\nb: x\0y\n", 12), "line 2, column 5: ");  // NUL
  starts("a: \x1b[31m\n", "line 1, column 4: ");                          // escape sequence
  starts(std::string_view("\xff\xfe"
                          "a\0",
                          4),
         "line 1, column 1: ");  // UTF-16
  EXPECT_EQ(read_text("\xef\xbb\xbf"
                      "a: 1\n"),
            R"({"a":1})");  // byte order mark
}

TEST(Limits, Size) {
  const std::string large(100U << 20U, '[');
  const auto documents = read(large);
  ASSERT_FALSE(documents);
  EXPECT_EQ(documents.error().code, ErrorCode::TooLarge);
  EXPECT_EQ(documents.error().message, "104857600 bytes, at most 16777216 are read");
}

TEST(Limits, DepthOfEveryForm) {
  std::string block;
  for (int i = 0; i < 10'000; ++i) block += "- ";
  std::string mapping;
  for (int i = 0; i < 2'000; ++i) mapping += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  std::string json;
  for (int i = 0; i < 10'000; ++i) json += "{\"a\":";
  for (const std::string& text : {std::string(10'000, '['), block, mapping, json,
                                  json + std::string(10'000, '}'), std::string(16U << 20U, '[')}) {
    const auto documents = read(text);
    ASSERT_FALSE(documents) << text.substr(0, 20);
    EXPECT_EQ(documents.error().code, ErrorCode::TooLarge) << documents.error().message;
    EXPECT_THAT(documents.error().message, testing::HasSubstr("nested deeper than 64 levels"));
  }
}

TEST(Limits, DepthIsExact) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_TRUE(read(nested(64)));
  EXPECT_FALSE(read(nested(65)));
}

TEST(Limits, AliasesCannotDeepenBeyondTheLimit) {
  const std::string deep = "- &x " + std::string(40, '[') + std::string(40, ']') + "\n";
  EXPECT_TRUE(read(deep + "- " + std::string(20, '[') + "*x" + std::string(20, ']')));
  EXPECT_EQ(read_text(deep + "- " + std::string(30, '[') + "*x" + std::string(30, ']')),
            "line 2, column 33: nested deeper than 64 levels");
}

TEST(Limits, AliasBombs) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    laughs += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int k = 0; k < 9; ++k) laughs += ", " + last;
    laughs += "]\n";
  }
  // One large string, many times.
  std::string heavy = "- &a " + std::string(1U << 20U, 'x') + "\n";
  for (int i = 0; i < 900; ++i) heavy += "- *a\n";
  std::string merges = "- &a {k: v}\n";
  for (int i = 0; i < 2'000; ++i) merges += "- {<<: *a}\n";
  // Every level anchored, around a large string: each anchor would keep a copy of its own.
  std::string nested;
  for (int i = 0; i < 60; ++i) nested += "&a" + std::to_string(i) + " [";
  nested += std::string(1U << 20U, 'x') + std::string(60, ']');
  for (const std::string& text : {laughs, heavy, merges, nested}) {
    const auto documents = read(text);
    ASSERT_FALSE(documents) << text.substr(0, 40);
    EXPECT_EQ(documents.error().code, ErrorCode::TooLarge) << documents.error().message;
  }
}

TEST(Limits, AliasesOfALargeNode) {
  std::string text = "- &a\n";
  for (int i = 0; i < 1'500; ++i) text += "  - x\n";
  EXPECT_TRUE(read(text));
  EXPECT_FALSE(read(text + "- *a\n"));
}

TEST(Limits, ValuesAndDocuments) {
  std::string values;
  for (int i = 0; i < 100'001; ++i) values += "- x\n";
  EXPECT_THAT(read_text(values), testing::EndsWith("more than 100000 values in one document"));
  std::string keys;
  for (int i = 0; i < 50'000; ++i) keys += "k" + std::to_string(i) + ": 1\n";
  EXPECT_TRUE(read(keys));
  std::string documents;
  for (int i = 0; i < 1'001; ++i) documents += "---\n";
  EXPECT_THAT(read_text(documents), testing::EndsWith("more than 1000 documents in one file"));
}

}  // namespace
}  // namespace muster::yaml
