#include <map>

#include <fmt/format.h>

#include "contract.h"
#include "rt/scope.h"

// Watching: order, resumption, selectors, bookmarks.
namespace muster::contract {
namespace {

std::int64_t version_of(const ObjectPtr& object) {
  return std::stoll(api::resource_version_of(*object));
}

TEST_P(Contract, WatchGivesEveryChangeInOrder) {
  const auto watch = watch_from_now(api::config_maps());
  const auto created = create_config_map("a");
  Value changed = *created;
  changed["data"]["key"] = "w";
  const auto updated = must(cluster().update(api::config_maps(), changed));
  remove(api::config_maps(), "a");

  const auto first = next(*watch);
  EXPECT_EQ(first.type, EventType::Added);
  EXPECT_EQ(*first.object, *created);
  const auto second = next(*watch);
  EXPECT_EQ(second.type, EventType::Modified);
  EXPECT_EQ(*second.object, *updated);
  const auto third = next(*watch);
  EXPECT_EQ(third.type, EventType::Deleted);
  EXPECT_EQ((*third.object)["data"]["key"].as_string(), "w");
  EXPECT_GT(version_of(third.object), version_of(second.object));
}

TEST_P(Contract, WatchResumesAfterTheVersionItIsGiven) {
  const auto a = create_config_map("a");
  create_config_map("b");
  create_config_map("c");
  const auto watch =
      must(cluster().watch(api::config_maps(), {.where = {.ns = ns()},
                                                .resource_version = api::resource_version_of(*a)}));
  std::vector<std::string> seen;
  while (seen.size() < 2) seen.push_back(api::name_of(*next(*watch).object));
  EXPECT_EQ(seen, (std::vector<std::string>{"b", "c"}));
}

TEST_P(Contract, TwoWatchesSeeTheSame) {
  const auto one = watch_from_now(api::services());
  const auto two = watch_from_now(api::services());
  must(cluster().create(api::services(), service("a")));
  EXPECT_EQ(*next(*one).object, *next(*two).object);
}

TEST_P(Contract, WatchShowsWhatEntersAndLeavesItsSelection) {
  const auto watch = watch_from_now(api::services(), {.labels = "state=on"});
  const auto created = must(cluster().create(api::services(), service("a")));
  Value on = *created;
  on["metadata"]["labels"]["state"] = "on";
  const auto entered = must(cluster().update(api::services(), on));
  Value off = *entered;
  off["metadata"]["labels"]["state"] = "off";
  const auto left = must(cluster().update(api::services(), off));

  const auto first = next(*watch);
  EXPECT_EQ(first.type, EventType::Added);
  EXPECT_EQ(*first.object, *entered);
  const auto second = next(*watch);
  EXPECT_EQ(second.type, EventType::Deleted);
  EXPECT_EQ(api::label_of(*second.object, "state"), "on");  // as it last matched
  EXPECT_EQ(version_of(second.object), version_of(left));   // at the version of the change
}

TEST_P(Contract, WatchByNameSeesOnlyThatName) {
  const auto watch = watch_from_now(api::services(), {.fields = "metadata.name=b"});
  must(cluster().create(api::services(), service("a")));
  must(cluster().create(api::services(), service("b")));
  EXPECT_EQ(api::name_of(*next(*watch).object), "b");
}

TEST_P(Contract, WatchOfPodsByNodeSeesThemArrive) {
  const std::string node = make_node();
  const auto watch = watch_from_now(api::pods(), {.fields = "spec.nodeName=" + node});
  const auto pod = create_pod("p");
  must(cluster().bind({ns(), "p"}, api::uid_of(*pod), node));
  const auto event = next(*watch);
  EXPECT_EQ(event.type, EventType::Added);
  EXPECT_EQ((*event.object)["spec"]["nodeName"].as_string(), node);
}

// Writes a ConfigMap again and again; what it says is how often.
Task<void> count_up(cluster::Cluster& cluster, ObjectPtr current, int times) {
  for (int i = 1; i <= times; ++i) {
    Value changed = *current;
    changed["data"]["key"] = std::to_string(i);
    const auto stored = co_await cluster.update(api::config_maps(), changed);
    if (!stored) co_return;
    current = *stored;
  }
}

// More changes than a server keeps of a kind. Whoever asks for those after a version gets all of
// them or is told that they are gone; never some.
TEST_P(Contract, AnOldVersionIsGoneOrStillKnown) {
  constexpr int kMaps = 16;
  constexpr int kTimes = 300;
  const auto start = create_config_map("start");
  rt::TaskScope writers(loop());
  for (int i = 0; i < kMaps; ++i) {
    writers.spawn(count_up(cluster(), create_config_map(fmt::format("map-{}", i)), kTimes));
  }
  loop().run(writers.join());
  const auto watch = run(cluster().watch(
      api::config_maps(),
      {.where = {.ns = ns()}, .resource_version = api::resource_version_of(*start)}));
  std::map<std::string, int> counts;
  for (int seen = 0; seen < kMaps * (kTimes + 1);) {
    const auto event = watch ? run((*watch)->next(), 10s) : Result<WatchEvent>(fail(watch.error()));
    if (!event) {
      EXPECT_EQ(event.error().code, ErrorCode::Gone) << event.error().message;
      EXPECT_EQ(seen, 0) << "some were given";
      return;
    }
    if (event->type == EventType::Bookmark) continue;
    const std::string& name = api::name_of(*event->object);
    if (!name.starts_with("map-")) continue;  // the namespace's own
    ++seen;
    const auto [entry, added] = counts.try_emplace(name, 0);
    ASSERT_EQ(event->type, added ? EventType::Added : EventType::Modified);
    if (added) continue;
    ASSERT_EQ((*event->object)["data"]["key"].as_string(), std::to_string(++entry->second)) << name;
  }
}

TEST_P(Contract, AWaitThatWasGivenUpTakesNothingAway) {
  const auto watch = watch_from_now(api::services());
  EXPECT_EQ(run(watch->next(), 50ms).error().code, ErrorCode::Timeout);
  must(cluster().create(api::services(), service("a")));
  EXPECT_EQ(api::name_of(*next(*watch).object), "a");
}

TEST_P(Contract, WatchOfAClusterScopedKind) {
  const auto page = must(cluster().list(api::nodes(), {}));
  const auto watch =
      must(cluster().watch(api::nodes(), {.resource_version = page.resource_version}));
  const std::string node = make_node();
  while (api::name_of(*next(*watch).object) != node) {  // other cases make nodes too
  }
}

TEST_P(Contract, ManyChangesArriveCompleteAndInOrder) {
  const auto watch = watch_from_now(api::services());
  auto current = must(cluster().create(api::services(), service("a")));
  for (int i = 0; i < 100; ++i) {
    Value changed = *current;
    changed["metadata"]["annotations"]["step"] = std::to_string(i);
    current = must(cluster().update(api::services(), changed));
  }
  EXPECT_EQ(next(*watch).type, EventType::Added);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(api::annotation_of(*next(*watch).object, "step"), std::to_string(i));
  }
}

// Servers send one about every minute: the only case that takes that long.
TEST_P(Contract, SlowBookmarksTellTheVersion) {
  const auto watch = watch_from_now(api::leases());
  const auto other = create_config_map("elsewhere");
  const auto bookmark = run(watch->next(), 90s);
  ASSERT_TRUE(bookmark) << bookmark.error().message;
  EXPECT_EQ(bookmark->type, EventType::Bookmark);
  EXPECT_GE(version_of(bookmark->object), version_of(other));
}

}  // namespace
}  // namespace muster::contract
