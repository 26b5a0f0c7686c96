#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tables/format.h"
#include "cli/tables/items.h"
#include "json/write.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Format, SaysWhatThereIs) {
  for (const char* text :
       {"", "wide", "json", "yaml", "name", "jsonpath={.a}", "custom-columns=NAME:.metadata.name"})
    EXPECT_TRUE(parse_format(text)) << text;
  for (const char* text : {"xml", "go-template={{.}}", "JSON", "wide=1", "jsonpathx={.a}"}) {
    const auto format = parse_format(text);
    ASSERT_FALSE(format) << text;
    EXPECT_EQ(format.error().code, ErrorCode::BadRequest);
    EXPECT_THAT(format.error().message, HasSubstr("use json, yaml, wide, name, jsonpath=")) << text;
  }
  EXPECT_THAT(parse_format("jsonpath").error().message, HasSubstr("jsonpath='{.items"));
  EXPECT_THAT(parse_format("jsonpath=").error().message, HasSubstr("jsonpath='{.items"));
  EXPECT_THAT(parse_format("custom-columns=").error().message, HasSubstr("NAME:.metadata.name"));
  EXPECT_THAT(parse_format("custom-columns=NAME").error().message, HasSubstr("TITLE:PATH"));
  EXPECT_THAT(parse_format("custom-columns=A:.b[").error().message, HasSubstr("JSONPath"));
}

TEST(CustomColumns, MayHaveCommasInTheirPaths) {
  const auto format = parse_format(
      "custom-columns=NAME:.metadata.name,READY:.conditions[?(@.type==\"Ready,really\")].status,"
      "ALL:.list[*],SOME:.list[0,2],GONE:.absent");
  ASSERT_TRUE(format) << format.error().message;
  json::Value object = json::Object{
      {"metadata", json::Object{{"name", "a"}}},
      {"list", json::Array{1, 2, 3}},
      {"conditions", json::Array{json::Object{{"type", "Ready,really"}, {"status", "True"}}}}};
  EXPECT_THAT(*custom_row(format->columns, object),
              ElementsAre("a", "True", "1,2,3", "1,3", "<none>"));
}

class Sorting : public ::testing::Test {
 protected:
  std::vector<std::string> sorted(const json::Array& values, std::string_view path = ".v") {
    std::vector<Item> items;
    for (const json::Value& value : values) {
      json::Value object = json::Object{};
      if (!value.is_null()) object["v"] = value;
      items.push_back({.of = &of_, .object = std::make_shared<json::Value>(object)});
    }
    if (const auto done = sort_items(items, path); !done) return {done.error().message};
    std::vector<std::string> order;
    for (const Item& item : items) order.push_back(json::write((*item.object)["v"]));
    return order;
  }
  NamedResource of_{.resource = api::pods()};
};

TEST_F(Sorting, ByWhatTheValuesMean) {
  EXPECT_THAT(sorted({10, 9, 2.5}), ElementsAre("2.5", "9", "10"));
  EXPECT_THAT(sorted({"1Gi", "500Mi", "2Gi"}), ElementsAre("\"500Mi\"", "\"1Gi\"", "\"2Gi\""));
  EXPECT_THAT(sorted({"rank-10", "rank-9", "rank-1"}),
              ElementsAre("\"rank-1\"", "\"rank-9\"", "\"rank-10\""));
  EXPECT_THAT(sorted({"2026-02-01T00:00:00Z", "2026-01-01T00:00:00Z"}),
              ElementsAre("\"2026-01-01T00:00:00Z\"", "\"2026-02-01T00:00:00Z\""));
  EXPECT_THAT(sorted({"b", nullptr, "a"}), ElementsAre("null", "\"a\"", "\"b\""));
}

// 1k > 999 as amounts, but 1k < 2x < 999 as text: whatever the order is, it is one.
TEST_F(Sorting, AmountsAmongTextAreText) {
  const auto in_order = ElementsAre("\"1k\"", "\"2x\"", "\"999\"");
  EXPECT_THAT(sorted({"999", "1k", "2x"}), in_order);
  EXPECT_THAT(sorted({"2x", "999", "1k"}), in_order);
  EXPECT_THAT(sorted({"1k", "2x", "999"}), in_order);
}

TEST_F(Sorting, APathThatNobodyHasIsAMistake) {
  EXPECT_THAT(sorted({1, 2}, ".nmae"), ElementsAre(HasSubstr("--sort-by=.nmae: no object has")));
  EXPECT_THAT(sorted({1, 2}, ".a["), ElementsAre(HasSubstr("JSONPath")));
  EXPECT_TRUE(sorted({}, ".nmae").empty());
}

}  // namespace
}  // namespace muster::cli
