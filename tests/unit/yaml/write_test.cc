#include <gtest/gtest.h>

#include "base/random.h"
#include "json/read.h"
#include "json/write.h"
#include "yaml/yaml.h"

namespace muster::yaml {
namespace {

std::string write_json(std::string_view text) {
  return yaml::write(json::read(text).value());
}

TEST(Write, LooksAsKubectlPrints) {
  EXPECT_EQ(write_json(R"({
    "apiVersion": "v1", "kind": "Pod",
    "metadata": {"name": "p", "creationTimestamp": "2026-11-15T03:04:05Z", "labels": {}},
    "spec": {"containers": [
      {"name": "main", "command": ["sh", "-c", "echo a: b; # c\nexit 0\n"],
       "env": [{"name": "N", "value": "1"}, {"name": "E", "value": ""}], "ports": []},
      {"name": "side", "args": ["--flag=x", "yes", "*.log", "it's"]}],
      "hostNetwork": true, "priority": 0, "x": null, "y": 1.5},
    "matrix": [[1, 2], [[3]], []]})"),
            R"(apiVersion: v1
kind: Pod
metadata:
  name: p
  creationTimestamp: "2026-11-15T03:04:05Z"
  labels: {}
spec:
  containers:
  - name: main
    command:
    - sh
    - -c
    - |
      echo a: b; # c
      exit 0
    env:
    - name: "N"
      value: "1"
    - name: E
      value: ""
    ports: []
  - name: side
    args:
    - --flag=x
    - "yes"
    - '*.log'
    - it's
  hostNetwork: true
  priority: 0
  x: null
  "y": 1.5
matrix:
- - 1
  - 2
- - - 3
- []
)");
}

TEST(Write, Strings) {
  const std::pair<const char*, const char*> rows[] = {
      {"plain text", "plain text\n"},
      {"a:b", "a:b\n"},
      {"a: b", "'a: b'\n"},
      {"a #b", "'a #b'\n"},
      {"a#b", "a#b\n"},
      {"a:", "'a:'\n"},
      {" a", "' a'\n"},
      {"a ", "'a '\n"},
      {"-", "'-'\n"},
      {"- a", "'- a'\n"},
      {"-a", "-a\n"},
      {"---", "'---'\n"},
      {"...", "'...'\n"},
      {"'", "''''\n"},
      {"\"a\"", "'\"a\"'\n"},
      {"%a", "'%a'\n"},
      {"@a", "'@a'\n"},
      {"{a}", "'{a}'\n"},
      {"~", "\"~\"\n"},
      {"0644", "\"0644\"\n"},
      {"1e3", "\"1e3\"\n"},
      {".inf", "\".inf\"\n"},
      {"12:30:45", "\"12:30:45\"\n"},
      {"2026-11-15", "\"2026-11-15\"\n"},
      {"a\tb", "\"a\\tb\"\n"},
      {"\x1b[31m", "\"\\u001B[31m\"\n"},
      {"ä€😀", "ä€😀\n"},
      {"a\u2028b", "\"a\\u2028b\"\n"},
      {"a\nb", "|-\n  a\n  b\n"},
      {"a\nb\n", "|\n  a\n  b\n"},
      {"a\n\n\tb\n\n", "|+\n  a\n\n  \tb\n\n"},
      {" a\nb", "\" a\\nb\"\n"},
      {"\n", "\"\\n\"\n"},
      {"a\r\nb", "\"a\\r\\nb\"\n"},
  };
  for (const auto& [text, yaml] : rows) EXPECT_EQ(yaml::write(json::Value(text)), yaml) << text;
}

TEST(Write, AMergeKeyInTheDataIsQuoted) {
  const auto value = json::Value(json::Object{{"<<", json::Object{{"a", 1}}}});
  EXPECT_EQ(read(yaml::write(value))->front().value, value);
}

TEST(Write, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(yaml::write(json::Value("a\xff")), "\"a\\uFFFD\"\n");
}

// Values whose strings are made of the pieces that YAML gives a meaning to.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : rng_(seed) {}

  json::Value value(int depth) {
    switch (rng_.below(depth > 0 ? 9 : 7)) {
      case 0:
        return {};
      case 1:
        return rng_.below(2) == 0;
      case 2:
        return static_cast<std::int64_t>(rng_.next());
      case 3:
        return rng_.unit() * static_cast<double>(rng_.below(1'000'000)) - 1000;
      case 4:
      case 5:
      case 6:
        return text();
      case 7:
        return array(depth - 1);
      default:
        return object(depth - 1);
    }
  }

  json::Value object(int depth) {
    json::Object members;
    for (auto count = rng_.below(5); count > 0; --count) members.set(text(), value(depth));
    return members;
  }

 private:
  json::Value array(int depth) {
    json::Array items;
    for (auto count = rng_.below(5); count > 0; --count) items.push_back(value(depth));
    return items;
  }

  std::string text() {
    static constexpr std::string_view kPieces[] = {
        "a",    "word",       " ",      "  ",        "\n",         "\n\n",   "\t",   "\r",
        ":",    ": ",         " #",     "#",         "-",          "- ",     "---",  "...",
        "?",    "? ",         "'",      "\"",        "\\",         "[",      "]",    "{",
        "}",    ",",          "&a",     "*a",        "!",          "!!str",  "|",    ">",
        "%",    "@",          "`",      "<<",        "=",          "~",      "null", "yes",
        "true", "0",          "1",      "0x",        "_",          "e3",     ".",    ".5",
        ".inf", "2026-11-15", "\x01",   "\x7f",      "ä",          "\u0085", "€",    "\u2028",
        "😀",   "\ufeff",     "\ufffe", "%YAML 1.1", "T03:04:05Z", "12:30"};
    std::string all;
    for (auto count = rng_.below(6); count > 0; --count)
      all += kPieces[rng_.below(std::size(kPieces))];
    if (rng_.below(50) == 0) all += std::string(1 + rng_.below(3000), 'k');
    if (rng_.below(50) == 0) all += '\0';
    return all;
  }

  SeededRng rng_;
};

TEST(Write, WhatIsReadBackIsTheSame) {
  for (std::uint64_t seed = 0; seed < 5'000; ++seed) {
    const json::Value value = Generator(seed).value(5);
    const std::string text = yaml::write(value);
    const auto documents = read(text);
    ASSERT_TRUE(documents) << "seed " << seed << ": " << documents.error().message << "\n" << text;
    if (value.is_null()) {
      EXPECT_TRUE(documents->empty());
      continue;
    }
    ASSERT_EQ(documents->size(), 1U) << "seed " << seed << "\n" << text;
    ASSERT_EQ(documents->front().value, value) << "seed " << seed << "\n"
                                               << text << "\n"
                                               << json::write(value);
  }
}

}  // namespace
}  // namespace muster::yaml
