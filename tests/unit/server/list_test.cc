#include "support.h"

namespace muster::server {
namespace {

using ListTest = ServerTest;

TEST_F(ListTest, SelectsByNamespaceLabelsAndFields) {
  make(api::namespaces(), parse(R"({"metadata":{"name":"other"}})"));
  json::Value a = pod("a");
  a["metadata"]["labels"]["app"] = "x";
  make(api::pods(), a);
  make(api::pods(), pod("b"));
  json::Value c = pod("c");
  c["metadata"]["namespace"] = "other";
  make(api::pods(), c);
  EXPECT_EQ(names(*list(api::pods())), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(names(*list(api::pods(), {.where = {.ns = "default"}})),
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(names(*list(api::pods(), {.where = {.labels = "app in (x,y)"}})),
            std::vector<std::string>{"a"});
  EXPECT_EQ(names(*list(api::pods(), {.where = {.fields = "metadata.name=b"}})),
            std::vector<std::string>{"b"});
  EXPECT_TRUE(loop_.run(core().bind({.ns = "default", .name = "b"}, "", "n1")));
  EXPECT_EQ(names(*list(api::pods(), {.where = {.fields = "spec.nodeName=n1"}})),
            std::vector<std::string>{"b"});
  EXPECT_EQ(list(api::pods(), {.where = {.fields = "spec.magic=1"}}).error().message,
            "field label not supported: spec.magic");
}

TEST_F(ListTest, PagesShowOneMoment) {
  for (const char* name : {"a", "b", "c", "d", "e"}) make(api::config_maps(), config_map(name));
  const auto first = list(api::config_maps(), {.limit = 2});
  ASSERT_TRUE(first);
  EXPECT_EQ(names(*first), (std::vector<std::string>{"a", "b"}));
  ASSERT_FALSE(first->continue_token.empty());

  EXPECT_TRUE(remove(api::config_maps(), "d"));
  EXPECT_TRUE(update(api::config_maps(), config_map("e", "changed")));
  make(api::config_maps(), config_map("cc"));

  const auto second =
      list(api::config_maps(), {.limit = 2, .continue_token = first->continue_token});
  ASSERT_TRUE(second);
  EXPECT_EQ(names(*second), (std::vector<std::string>{"c", "d"}));
  EXPECT_EQ(second->resource_version, first->resource_version);
  const auto third =
      list(api::config_maps(), {.limit = 2, .continue_token = second->continue_token});
  ASSERT_TRUE(third);
  EXPECT_EQ(names(*third), std::vector<std::string>{"e"});
  EXPECT_EQ((*third->items[0])["data"]["key"].as_string(), "1");
  EXPECT_TRUE(third->continue_token.empty());
}

TEST_F(ListTest, AContinuationExpiresAndNonsenseIsRefused) {
  make(api::config_maps(), config_map("a"));
  make(api::config_maps(), config_map("b"));
  const auto first = list(api::config_maps(), {.limit = 1});
  for (int i = 0; i < 4'200; ++i)
    EXPECT_TRUE(update(api::config_maps(), config_map("a", std::to_string(i))));
  EXPECT_EQ(
      list(api::config_maps(), {.limit = 1, .continue_token = first->continue_token}).error().code,
      ErrorCode::Gone);
  for (const char* token : {"x", "AAAA", "OTk5OTk5OTk5L2EvYg=="}) {
    EXPECT_EQ(list(api::config_maps(), {.continue_token = token}).error().code,
              ErrorCode::BadRequest);
  }
}

TEST_F(ListTest, AVersionAheadWaitsAndThenSaysSo) {
  const auto late = list(api::pods(), {.resource_version = "1000"});
  EXPECT_EQ(late.error().code, ErrorCode::Timeout);
  EXPECT_EQ(late.error().causes.at(0).reason, "ResourceVersionTooLarge");
  EXPECT_EQ(list(api::pods(), {.resource_version = "x"}).error().code, ErrorCode::BadRequest);
}

TEST_F(ListTest, ExactShowsThatVersion) {
  const json::Value made = make(api::config_maps(), config_map("a"));
  make(api::config_maps(), config_map("b"));
  const auto then = list(api::config_maps(), {.resource_version = api::resource_version_of(made),
                                              .resource_version_match = "Exact"});
  ASSERT_TRUE(then);
  EXPECT_EQ(names(*then), std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace muster::server
