#include "support.h"

namespace muster::server {
namespace {

using WatchTest = ServerTest;

TEST_F(WatchTest, GivesThePresentStateThenChangesInOrder) {
  make(api::config_maps(), config_map("a"));
  const auto all = watch(api::config_maps());
  EXPECT_EQ(next(*all), "ADDED a");
  EXPECT_EQ(next(*all), "nothing");
  make(api::config_maps(), config_map("b"));
  EXPECT_TRUE(update(api::config_maps(), config_map("a", "2")));
  EXPECT_TRUE(update(api::config_maps(), config_map("a", "2"))) << "changes nothing, shows nothing";
  EXPECT_TRUE(remove(api::config_maps(), "b"));
  EXPECT_EQ(next(*all), "ADDED b");
  EXPECT_EQ(next(*all), "MODIFIED a");
  EXPECT_EQ(next(*all), "DELETED b");
  EXPECT_EQ(next(*all), "nothing");
}

TEST_F(WatchTest, ADeletionCarriesItsOwnVersion) {
  const json::Value made = make(api::config_maps(), config_map("a"));
  const auto all = watch(api::config_maps(), {.resource_version = api::resource_version_of(made)});
  EXPECT_TRUE(remove(api::config_maps(), "a"));
  const auto event = loop_.run(all->next());
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, EventType::Deleted);
  EXPECT_EQ(api::resource_version_of(*event->object), list(api::config_maps())->resource_version);
  EXPECT_EQ(api::uid_of(*event->object), api::uid_of(made));
}

TEST_F(WatchTest, ResumesAfterAVersion) {
  const json::Value a = make(api::config_maps(), config_map("a"));
  make(api::config_maps(), config_map("b"));
  const auto rest = watch(api::config_maps(), {.resource_version = api::resource_version_of(a)});
  EXPECT_EQ(next(*rest), "ADDED b");
  EXPECT_EQ(next(*rest), "nothing");
}

TEST_F(WatchTest, AVersionInTheFutureHolds) {
  const std::string now = list(api::config_maps())->resource_version;
  const auto later =
      watch(api::config_maps(), {.resource_version = std::to_string(std::stoll(now) + 2)});
  make(api::config_maps(), config_map("a"));
  make(api::config_maps(), config_map("b"));
  EXPECT_EQ(next(*later), "nothing");
  make(api::config_maps(), config_map("c"));
  EXPECT_EQ(next(*later), "ADDED c");
}

TEST_F(WatchTest, ASlowWatcherAndAnOldVersionAreTold) {
  const json::Value a = make(api::config_maps(), config_map("a"));
  const auto slow = watch(api::config_maps(), {.resource_version = api::resource_version_of(a)});
  for (int i = 0; i < 4'200; ++i)
    EXPECT_TRUE(update(api::config_maps(), config_map("a", std::to_string(i))));
  EXPECT_EQ(next(*slow), "Expired");
  const auto old =
      core().watch(kind(api::config_maps()), {.resource_version = api::resource_version_of(a)});
  EXPECT_EQ(old.error().code, ErrorCode::Gone);
}

TEST_F(WatchTest, AQuietWatchStaysYoung) {
  const json::Value a = make(api::config_maps(), config_map("a"));
  const auto quiet = watch(api::config_maps(), {.where = {.fields = "metadata.name=zzz"},
                                                .resource_version = api::resource_version_of(a)});
  for (int i = 0; i < 4'200; ++i) {
    EXPECT_TRUE(update(api::config_maps(), config_map("a", std::to_string(i))));
    if (i % 1'000 == 0) EXPECT_EQ(next(*quiet), "nothing");
  }
  EXPECT_EQ(next(*quiet), "nothing");
}

TEST_F(WatchTest, ObjectsEnterAndLeaveASelection) {
  const auto selected = watch(api::pods(), {.where = {.fields = "spec.nodeName=n1"}});
  make(api::pods(), pod("a"));
  EXPECT_EQ(next(*selected), "nothing");
  EXPECT_TRUE(loop_.run(core().bind({.ns = "default", .name = "a"}, "", "n1")));
  EXPECT_EQ(next(*selected), "ADDED a");

  json::Value labelled = config_map("c");
  labelled["metadata"]["labels"]["app"] = "x";
  make(api::config_maps(), labelled);
  const auto by_label = watch(api::config_maps(), {.where = {.labels = "app=x"}});
  EXPECT_EQ(next(*by_label), "ADDED c");
  EXPECT_TRUE(update(api::config_maps(), config_map("c")));
  const auto left = loop_.run(by_label->next());
  ASSERT_TRUE(left);
  EXPECT_EQ(left->type, EventType::Deleted);
  EXPECT_EQ(api::label_of(*left->object, "app"), "x") << "the last content that was selected";
  EXPECT_EQ(api::resource_version_of(*left->object),
            api::resource_version_of(**get(api::config_maps(), "c")));
}

TEST_F(WatchTest, BookmarksComeEveryMinuteWhenAsked) {
  const auto marked = watch(api::leases(), {.resource_version = "1", .bookmarks = true});
  make(api::config_maps(), config_map("a"));
  const auto event = loop_.run(marked->next());
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, EventType::Bookmark);
  EXPECT_EQ(api::resource_version_of(*event->object), list(api::leases())->resource_version);
  EXPECT_EQ(loop_.monotonic().since_start, std::chrono::minutes(1));
}

TEST_F(WatchTest, InitialEventsEndWithAMarkedBookmark) {
  make(api::config_maps(), config_map("a"));
  const auto all = watch(api::config_maps(), {.bookmarks = true, .initial_events = true});
  EXPECT_EQ(next(*all), "ADDED a");
  const auto mark = loop_.run(all->next());
  ASSERT_TRUE(mark);
  EXPECT_EQ(mark->type, EventType::Bookmark);
  EXPECT_EQ(api::annotation_of(*mark->object, "k8s.io/initial-events-end"), "true");
}

TEST_F(WatchTest, EndsWhenTheServerCloses) {
  const auto all = watch(api::leases());
  rt::TaskScope scope(loop_);
  loop_.run(server_->close());
  EXPECT_EQ(loop_.run(all->next()).error().code, ErrorCode::Unavailable);
}

}  // namespace
}  // namespace muster::server
