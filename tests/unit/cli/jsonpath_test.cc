#include "cli/query/jsonpath.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "yaml/yaml.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

json::Value pods() {
  const auto documents = yaml::read(R"(
kind: List
items:
- metadata:
    name: a
    labels: {team.example.org/name: vision, x: "1"}
  spec: {nodeName: box, containers: [{name: main, image: one}, {name: side, image: two}]}
  status:
    restarts: 3
    ready: true
    conditions: [{type: Ready, status: "True"}, {type: Scheduled, status: "False"}]
- metadata: {name: b}
  spec: {containers: [{name: main, image: three}]}
  status: {restarts: 0, ready: false}
- metadata: {name: c}
)");
  return documents->front().value;
}

std::string applied(std::string_view text) {
  const auto parsed = JsonPathTemplate::parse(text);
  if (!parsed) return "parse: " + parsed.error().message;
  const auto written = parsed->apply(pods());
  return written ? *written : "apply: " + written.error().message;
}

TEST(JsonPath, SaysWhatKubectlWouldSay) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"{.kind}", "List"},
      {"{$.kind}", "List"},
      {"{ .kind }", "List"},
      {".kind", "List"},
      {"kind", "List"},
      {"kind is {.kind}.", "kind is List."},
      {"{.items[0].metadata.name}", "a"},
      {"{.items[-1].metadata.name}", "c"},
      {"{.items[*].metadata.name}", "a b c"},
      {"{.items[*]['metadata'].name}", "a b c"},
      {"{.items[0:2].metadata.name}", "a b"},
      {"{.items[1:].metadata.name}", "b c"},
      {"{.items[:-1].metadata.name}", "a b"},
      {"{.items[0:3:2].metadata.name}", "a c"},
      {"{.items[0,2].metadata.name}", "a c"},
      {"{.items[0].spec.containers[*].image}", "one two"},
      {"{.items[*].spec.containers[0].image}", "one three"},
      {"{..image}", "one two three"},
      {"{.items[0].metadata.labels.team\\.example\\.org/name}", "vision"},
      {"{.items[0].metadata.labels['team.example.org/name']}", "vision"},
      {"{.items[0]['metadata.name', 'status.restarts', 'status.absent']}", "a 3"},
      {"{.items[0].metadata.labels}", R"({"team.example.org/name":"vision","x":"1"})"},
      {"{.items[0].metadata.labels.*}", "vision 1"},
      {"{.items[0].metadata['name','labels'].x}", "1"},
      {"{.items[0].status.restarts}", "3"},
      {"{.items[0].status.ready}", "true"},
      {"{.items[?(@.metadata.name==\"b\")].spec.containers[0].image}", "three"},
      {"{.items[?(@.metadata.name=='b')].metadata.name}", "b"},
      {"{.items[?(@.metadata.name!=\"b\")].metadata.name}", "a c"},
      {"{.items[?(@.status.restarts>0)].metadata.name}", "a"},
      {"{.items[?(@.status.restarts >= 0)].metadata.name}", "a b"},
      {"{.items[?(@.status.ready==true)].metadata.name}", "a"},
      {"{.items[?(@.status)].metadata.name}", "a b"},
      {"{.items[0].status.conditions[?(@.type==\"Ready\")].status}", "True"},
      {"{range .items[*]}{.metadata.name}{\"\\n\"}{end}", "a\nb\nc\n"},
      {"{range .items[*]}{.metadata.name}\t{.status.restarts};{end}", "a\t3;b\t0;c\t;"},
      {"{range .items[*]}{.metadata.name}:{range .spec.containers[*]}{.name},{end} {end}",
       "a:main,side, b:main, c: "},
      {"{.items[*].metadata.name .kind}", "a b cList"},
      {"{'it''s'}", "its"},
      {"{\"a\\tb\\\"\"}", "a\tb\""},
      {"{.absent.deeply[3].no}", ""},
      {"{.items[7].metadata.name}", ""},
      {"", ""},
  };
  for (const auto& [text, expected] : table) EXPECT_EQ(applied(text), expected) << text;
}

TEST(JsonPath, WhatIsWrongIsSaidWithItsPlace) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"{.a", "} is wanted at its end"},
      {"{.a]}", ". or [ is wanted at \"]}\""},
      {"{.a[}", "a number, * or 'name' is wanted"},
      {"{.a[0}", "] is wanted at \"}\""},
      {"{.a[?(@.b==]}", "is wanted at"},
      {"{.a[?@.b]}", "( of a filter"},
      {"{range .a}x", "{end} of the range"},
      {"{end}", "a {range PATH} before {end}"},
      {"{\"a}", "the closing \""},
      {"{..}", "a field's name is wanted"},
      {"{.a[0:3:0]}", "a step above 0"},
      {"{.a[99999999999999999999]}", "a smaller number"},
  };
  for (const auto& [text, expected] : table) {
    EXPECT_THAT(applied(text), HasSubstr("parse: JSONPath")) << text;
    EXPECT_THAT(applied(text), HasSubstr(expected)) << text;
  }
}

TEST(JsonPath, IsBounded) {
  std::string nested;
  for (int i = 0; i < 100; ++i) nested += "{range .items[*]}";
  EXPECT_THAT(applied(nested), HasSubstr("at most 32"));
  std::string filters = ".a";
  for (int i = 0; i < 100; ++i) filters += "[?(@.a";
  EXPECT_THAT(applied("{" + filters + "}"), HasSubstr("at most 32"));
  EXPECT_THAT(applied(std::string(70'000, 'x')), HasSubstr("at most 65536 bytes"));
  // Every .. multiplies.
  EXPECT_THAT(applied("{..*..*..*..*..*..*..*..*..*..*..*..*..*..*..*..*}"),
              ::testing::AnyOf(HasSubstr("more than"), ::testing::Not(HasSubstr("parse"))));
}

TEST(JsonPath, OnePathMayHaveBracesOrNot) {
  for (const char* text : {".items[0].metadata.name", "{.items[0].metadata.name}",
                           "items[0].metadata.name", "$.items[0].metadata.name"}) {
    const auto path = JsonPath::parse(text);
    ASSERT_TRUE(path) << text;
    const json::Value root = pods();
    const auto found = path->find(root);
    ASSERT_TRUE(found && found->size() == 1) << text;
    EXPECT_EQ(found->front()->as_string(), "a");
  }
  EXPECT_FALSE(JsonPath::parse("{.a} {.b}"));
  EXPECT_FALSE(JsonPath::parse(""));
}

}  // namespace
}  // namespace muster::cli
