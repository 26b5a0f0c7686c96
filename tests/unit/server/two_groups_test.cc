#include <fmt/format.h>
#include <gmock/gmock.h>

#include "home.h"
#include "http_support.h"
#include "rt/real_loop.h"

// Two job kinds of one kind name, plural and short name, told apart by their group only.
namespace muster::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

api::Resource other_widgets() {
  return {.group = "other.dev", .version = "v1", .plural = "widgets", .kind = "Widget"};
}

json::Value other_widget(std::string_view name, int length = 1) {
  json::Value made = widget(name);
  made["spec"] = json::Object{{"length", length}};
  return made;
}

constexpr const char* kOurs = "/apis/test.dev/v1/namespaces/default/widgets";
constexpr const char* kTheirs = "/apis/other.dev/v1/namespaces/default/widgets";

class TwoGroupsTest : public HttpFrontTest {
 protected:
  TwoGroupsTest() : HttpFrontTest(std::make_unique<WidgetDialect>(other_widgets(), "length")) {}
};

TEST_F(TwoGroupsTest, OneNameTwiceIsTwoObjects) {
  make(widgets(), widget("w"));
  EXPECT_FALSE(exists(other_widgets(), "w"));
  const json::Value theirs = make(other_widgets(), other_widget("w"));
  EXPECT_EQ(api::api_version_of(theirs), "other.dev/v1");
  EXPECT_EQ(api::api_version_of(**get(widgets(), "w")), "test.dev/v1");
  EXPECT_THAT(names(*list(widgets())), ElementsAre("w"));
  ASSERT_TRUE(remove(widgets(), "w"));
  EXPECT_FALSE(exists(widgets(), "w"));
  EXPECT_TRUE(exists(other_widgets(), "w"));
}

TEST_F(TwoGroupsTest, WatchersSeeTheirGroupOnly) {
  const auto ours = watch(widgets());
  const auto theirs = watch(other_widgets());
  make(other_widgets(), other_widget("w"));
  EXPECT_EQ(next(*theirs), "ADDED w");
  EXPECT_EQ(next(*ours), "nothing");
}

TEST_F(TwoGroupsTest, EachIsCheckedByItsOwnDialect) {
  EXPECT_THAT(create(widgets(), other_widget("w")).error().message, HasSubstr("spec.size"));
  EXPECT_THAT(create(other_widgets(), widget("w")).error().message, HasSubstr("spec.length"));
  json::Value mislaid = other_widget("w");
  mislaid["apiVersion"] = "test.dev/v1";
  mislaid["kind"] = "Widget";
  EXPECT_EQ(create(other_widgets(), mislaid).error().code, ErrorCode::BadRequest);
  EXPECT_EQ(get(other_widgets(), "w").error().message, "widgets.other.dev \"w\" not found");
}

TEST_F(TwoGroupsTest, AnOwnerIsLookedForInItsGroup) {
  const json::Value ours = make(widgets(), widget("w"));
  make(other_widgets(), other_widget("w"));
  json::Value child = config_map("child");
  child["metadata"]["ownerReferences"] = json::Array{owner(ours)};
  make(api::config_maps(), child);
  json::Value mistaken = config_map("mistaken");
  json::Value reference = owner(ours);
  reference["apiVersion"] = "other.dev/v1";
  mistaken["metadata"]["ownerReferences"] = json::Array{reference};
  make(api::config_maps(), mistaken);
  settle();
  EXPECT_TRUE(exists(api::config_maps(), "child"));
  EXPECT_FALSE(exists(api::config_maps(), "mistaken")) << "its owner is of the other group";
  ASSERT_TRUE(remove(other_widgets(), "w"));
  settle();
  EXPECT_TRUE(exists(api::config_maps(), "child"));
  ASSERT_TRUE(remove(widgets(), "w"));
  settle();
  EXPECT_FALSE(exists(api::config_maps(), "child"));
}

TEST_F(TwoGroupsTest, UrlsTablesAndDiscoveryTellThemApart) {
  ASSERT_EQ(post(kOurs, widget("a", 3)).status, 201);
  ASSERT_EQ(post(kTheirs, other_widget("b", 5)).status, 201);
  EXPECT_EQ(get_json(fmt::format("{}/a", kTheirs), 404)["details"]["group"].as_string(),
            "other.dev");
  const net::Headers table{{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}};
  for (const auto& [path, column, cell] : std::vector<std::tuple<const char*, const char*, int>>{
           {kOurs, "size", 3}, {kTheirs, "length", 5}}) {
    const json::Value shown = seen(call("GET", path, "", table).body);
    EXPECT_EQ(shown["columnDefinitions"][1]["name"].as_string(), column);
    ASSERT_EQ(shown["rows"].as_array().size(), 1U);
    EXPECT_EQ(shown["rows"][0]["cells"][1], json::Value(cell));
  }
  std::vector<std::string> groups;
  const json::Value all = get_json("/apis");
  for (const json::Value& group : all["groups"].as_array()) {
    groups.push_back(group["name"].as_string());
  }
  EXPECT_THAT(groups, ::testing::IsSupersetOf({"test.dev", "other.dev"}));
  for (const char* path : {"/apis/test.dev/v1", "/apis/other.dev/v1"}) {
    const json::Value resources = get_json(path)["resources"];
    ASSERT_EQ(resources.as_array().size(), 2U) << "widgets and widgets/status";
    EXPECT_EQ(resources.as_array()[0]["shortNames"], json::Value(json::Array{"wd"}));
  }
}

// One life of a server: makes what is not there yet, and tells what was.
std::vector<std::string> live_once(const Home& home) {
  rt::RealLoop loop;
  rt::Pool pool(1);
  SeededRng rng(7);
  plan::Registry registry;
  registry.add(std::make_unique<WidgetDialect>());
  registry.add(std::make_unique<WidgetDialect>(other_widgets(), "length"));
  auto server = loop.run(EmbeddedServer::create(
      {.loop = loop, .pool = &pool, .rng = rng, .registry = registry, .home = home.path()}));
  EXPECT_TRUE(server.has_value());
  std::vector<std::string> found;
  Core& core = (*server)->core();
  for (const auto& [resource, object] :
       {std::pair(widgets(), widget("w", 3)), std::pair(other_widgets(), other_widget("w", 5))}) {
    const Kind& kind = *core.kinds().find(resource);
    const auto there = core.get(kind, api::key_of(object));
    if (there) found.push_back(api::api_version_of(**there) + json::write((**there)["spec"]));
    if (!there) EXPECT_TRUE(loop.run(core.create(kind, object)));
  }
  loop.run((*server)->close());
  return found;
}

TEST(TwoGroups, BothAreThereAfterARestart) {
  const Home home;
  EXPECT_THAT(live_once(home), ElementsAre());
  EXPECT_THAT(live_once(home),
              ElementsAre(R"(test.dev/v1{"size":3})", R"(other.dev/v1{"length":5})"));
}

}  // namespace
}  // namespace muster::server
