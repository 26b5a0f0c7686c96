#include "home.h"

#include <memory>

#include <gtest/gtest.h>

#include "base/random.h"
#include "rt/real_loop.h"
#include "support.h"

namespace muster::server {
namespace {

// The whole server on a home: what was there before is there after, watches resume across the
// restart.
class HomeTest : public testing::Test {
 protected:
  HomeTest() { registry_.add(std::make_unique<WidgetDialect>()); }

  std::unique_ptr<EmbeddedServer> open() {
    auto made = loop_.run(EmbeddedServer::create(
        {.loop = loop_, .pool = &pool_, .rng = rng_, .registry = registry_, .home = home_.path()}));
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
    return std::move(*made);
  }
  Result<ObjectPtr> create(EmbeddedServer& server, const api::Resource& resource,
                           json::Value object) {
    return loop_.run(
        server.core().create(*server.core().kinds().find(resource), std::move(object)));
  }

  Home home_;
  rt::RealLoop loop_;
  rt::Pool pool_{2};
  SystemRng rng_;
  plan::Registry registry_;
};

TEST_F(HomeTest, AWatchResumesAcrossARestart) {
  auto first = open();
  const auto a = create(*first, api::config_maps(), config_map("a"));
  ASSERT_TRUE(a);
  ASSERT_TRUE(create(*first, api::config_maps(), config_map("b")));
  const Kind& kind = *first->core().kinds().find(api::config_maps());
  ASSERT_TRUE(loop_.run(first->core().remove(kind, {.ns = "default", .name = "a"}, {})));
  const auto listed = loop_.run(first->core().list(kind, {}));
  loop_.run(first->close());
  first.reset();

  auto second = open();
  const Kind& again = *second->core().kinds().find(api::config_maps());
  const auto after = loop_.run(second->core().list(again, {}));
  EXPECT_EQ(after->resource_version, listed->resource_version) << "a restart writes nothing";
  EXPECT_EQ(after->items.size(), listed->items.size());
  auto watch = second->core().watch(again, {.resource_version = api::resource_version_of(**a)});
  ASSERT_TRUE(watch);
  const auto added = loop_.run((*watch)->next());
  EXPECT_EQ(added->type, EventType::Added);
  EXPECT_EQ(api::name_of(*added->object), "b");
  const auto deleted = loop_.run((*watch)->next());
  EXPECT_EQ(deleted->type, EventType::Deleted);
  EXPECT_EQ(api::name_of(*deleted->object), "a");
  watch->reset();
  loop_.run(second->close());
}

TEST_F(HomeTest, AddressesInUseStayInUse) {
  json::Value service =
      parse(R"({"metadata":{"name":"a","namespace":"default"},"spec":{"ports":[{"port":1}]}})");
  auto first = open();
  const auto a = create(*first, api::services(), service);
  ASSERT_TRUE(a);
  loop_.run(first->close());
  first.reset();
  auto second = open();
  service["metadata"]["name"] = "b";
  const auto b = create(*second, api::services(), service);
  ASSERT_TRUE(b);
  EXPECT_NE((**a)["spec"]["clusterIP"].as_string(), (**b)["spec"]["clusterIP"].as_string());
  loop_.run(second->close());
}

}  // namespace
}  // namespace muster::server
