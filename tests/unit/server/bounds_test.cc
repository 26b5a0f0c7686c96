// What clients and growth can make the server hold.
#include "base/traffic_limits.h"
#include "http_support.h"
#include "server/store/shared_texts.h"

namespace muster::server {
namespace {

constexpr std::string_view kMaps = "/api/v1/namespaces/default/configmaps";

json::Value large_map(std::string_view name, int number) {
  return config_map(name, std::to_string(number) + std::string(std::size_t{1} << 20U, 'x'));
}

using HistoryTest = ServerTest;

TEST_F(HistoryTest, IsBoundedByItsBytes) {
  std::vector<std::string> versions = {
      api::resource_version_of(make(api::config_maps(), large_map("a", 0)))};
  for (int i = 1; i <= 40; ++i) {
    const auto updated = update(api::config_maps(), large_map("a", i));
    ASSERT_TRUE(updated);
    versions.push_back(api::resource_version_of(**updated));
  }
  const auto resumed = [&](std::size_t at) {
    return core().watch(kind(api::config_maps()), {.resource_version = versions[at]}).has_value();
  };
  EXPECT_TRUE(resumed(40));
  EXPECT_TRUE(resumed(40 - 12));
  EXPECT_FALSE(resumed(40 - 17)) << "17 MiB ago";
  const auto old = core().watch(kind(api::config_maps()), {.resource_version = versions[0]});
  EXPECT_EQ(old.error().code, ErrorCode::Gone);
}

TEST_F(HistoryTest, WhatIsKeptHasNoRoomForMore) {
  json::Value map = config_map("a");
  auto& list = map["metadata"]["finalizers"].array();
  list.reserve(100);
  list.emplace_back("example.com/keep");
  make(api::config_maps(), std::move(map));
  const auto kept = core().get(kind(api::config_maps()), {.ns = "default", .name = "a"});
  ASSERT_TRUE(kept);
  EXPECT_EQ((**kept)["metadata"]["finalizers"].as_array().capacity(), 1U);
}

TEST_F(HistoryTest, AFloodOfOneKindCostsNoOtherItsPast) {
  const json::Value lease = make(api::pods(), pod("a"));
  const json::Value removed = make(api::pods(), pod("b"));
  ASSERT_TRUE(remove(api::pods(), "b", {.grace_seconds = 0}));
  make(api::config_maps(), large_map("a", 0));
  for (int i = 1; i <= 40; ++i) ASSERT_TRUE(update(api::config_maps(), large_map("a", i)));
  const auto pods = watch(api::pods(), {.resource_version = api::resource_version_of(lease)});
  EXPECT_EQ(next(*pods), "ADDED b");
}

TEST_F(HistoryTest, DeletedObjectsCount) {
  const json::Value first = make(api::config_maps(), large_map("first", 0));
  for (int i = 0; i < 20; ++i) {
    make(api::config_maps(), large_map("a", i));
    ASSERT_TRUE(remove(api::config_maps(), "a"));
  }
  const auto old =
      core().watch(kind(api::config_maps()), {.resource_version = api::resource_version_of(first)});
  EXPECT_EQ(old.error().code, ErrorCode::Gone);
}

TEST_F(HistoryTest, AWatchThatHasNotReadItsFirstObjectsDoesNotKeepThemForEver) {
  make(api::config_maps(), large_map("a", 0));
  make(api::config_maps(), config_map("b"));
  const auto slow = watch(api::config_maps());
  EXPECT_EQ(next(*slow), "ADDED a");
  for (int i = 1; i <= 40; ++i) ASSERT_TRUE(update(api::config_maps(), large_map("a", i)));
  EXPECT_EQ(next(*slow), "Expired");
}

WatchEvent event_about(std::string name) {
  return {.type = EventType::Modified,
          .object = std::make_shared<const json::Value>(config_map(name))};
}

TEST(SharedTexts, AreWrittenOnceForAllAndGoWithTheLast) {
  SharedTexts texts;
  const WatchEvent event = event_about("a");
  int written = 0;
  const auto write = [&] {
    ++written;
    return std::string(1'000, 'a');
  };
  {
    const SharedTexts::Sending first(texts, event, write);
    const SharedTexts::Sending second(texts, event, write);
    EXPECT_EQ(written, 1);
    EXPECT_EQ(first.text().data(), second.text().data());
    EXPECT_EQ(texts.bytes(), 1'000U);
    WatchEvent added = event;
    added.type = EventType::Added;
    const SharedTexts::Sending other(texts, added, write);
    EXPECT_EQ(written, 2) << "it is told in other words";
  }
  EXPECT_EQ(texts.bytes(), 0U);
}

TEST(SharedTexts, AtTheBoundTheOldestAreStoppedAndNobodyJoinsThem) {
  SharedTexts texts(2'500);
  const WatchEvent event = event_about("a");
  const auto write = [] { return std::string(1'000, 'a'); };
  SharedTexts::Sending oldest(texts, event, write);
  SharedTexts::Sending with_it(texts, event, write);
  SharedTexts::Sending second(texts, event_about("b"), write);
  EXPECT_FALSE(oldest.stop().stop_requested());
  SharedTexts::Sending third(texts, event_about("c"), write);
  EXPECT_TRUE(oldest.stop().stop_requested());
  EXPECT_TRUE(with_it.stop().stop_requested());
  EXPECT_FALSE(second.stop().stop_requested());
  SharedTexts::Sending again(texts, event, write);
  EXPECT_NE(again.text().data(), oldest.text().data());
  EXPECT_TRUE(second.stop().stop_requested()) << "the next in age";
  EXPECT_FALSE(third.stop().stop_requested());
  EXPECT_FALSE(again.stop().stop_requested());
  SharedTexts::Sending alone(texts, std::string(10'000, 'x'));
  EXPECT_FALSE(alone.stop().stop_requested()) << "larger than all: it goes alone";
}

// A peer that reads nothing of what it watches.
class Blocked final : public net::Responder {
 public:
  Blocked(rt::Loop& loop, std::string client) : reads_(loop) { peer_.client = std::move(client); }
  Task<Result<void>> respond(net::HttpResponse response) override {
    status = response.status;
    retry_after = response.headers.get("Retry-After").value_or("");
    co_return Result<void>{};
  }
  Task<Result<void>> begin(int code, net::Headers) override {
    status = code;
    co_return Result<void>{};
  }
  Task<Result<void>> write_chunk(std::string_view) override { return reads_.wait(); }
  Task<Result<void>> finish() override { co_return Result<void>{}; }
  Task<Result<std::unique_ptr<net::Stream>>> upgrade(net::Headers) override {
    co_return fail(ErrorCode::Unavailable, "there is no connection");
  }
  [[nodiscard]] const net::Peer& peer() const override { return peer_; }

  int status = 0;
  std::string retry_after;

 private:
  rt::Event reads_;
  net::Peer peer_;
};

class CrowdTest : public HttpFrontTest {
 protected:
  ~CrowdTest() override { loop_.run(scope_.close()); }

  // Begins a watch that lasts; what it was answered.
  Blocked& open_watch(const std::string& client) {
    const net::HttpRequest& request =
        requests_.emplace_back(net::HttpRequest{.target = std::string(kMaps) + "?watch=true"});
    Blocked& peer = *peers_.emplace_back(std::make_unique<Blocked>(loop_, client));
    scope_.spawn(front_.handle(request, peer));
    loop_.drain();
    return peer;
  }
  int granted(const std::string& client, int asked) {
    int count = 0;
    for (int i = 0; i < asked; ++i) count += open_watch(client).status == 200 ? 1 : 0;
    return count;
  }

  std::deque<net::HttpRequest> requests_;
  std::vector<std::unique_ptr<Blocked>> peers_;
  rt::TaskScope scope_{loop_};
};

TEST_F(CrowdTest, OneClientCannotTakeAllWatches) {
  EXPECT_EQ(granted("uid 0 pid 1", 1'024), 256);
  const Blocked& refused = open_watch("uid 0 pid 1");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.retry_after, "1");
  EXPECT_EQ(open_watch("uid 0 pid 2").status, 200);
  EXPECT_TRUE(core().watch(kind(api::config_maps()), {}).has_value());
}

TEST_F(CrowdTest, ThereIsAlwaysAWatchForSomebodyWhoHasNone) {
  int all = 0;
  for (int client = 0; client < 8; ++client) {
    const int got = granted("client " + std::to_string(client), 256);
    EXPECT_GT(got, 0) << client;
    all += got;
  }
  EXPECT_LE(all, static_cast<int>(limits::kMaxWatches));
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(core().watch(kind(api::config_maps()), {}).has_value()) << "the server's own";
  }
}

TEST_F(CrowdTest, AWatchThatEndedGivesItsPlaceBack) {
  {
    const auto seat = core().watches().seats.take("a");
    EXPECT_EQ(core().watches().seats.total(), 1U);
  }
  EXPECT_EQ(core().watches().seats.total(), 0U);
}

TEST_F(CrowdTest, AWatchThatHistoryHasOvertakenIsEnded) {
  open_watch("a");
  make(api::config_maps(), config_map("a"));
  loop_.drain();
  EXPECT_EQ(scope_.running(), 1U) << "it waits for its peer";
  make(api::config_maps(), large_map("b", 0));
  for (int i = 1; i <= 10; ++i) ASSERT_TRUE(update(api::config_maps(), large_map("b", i)));
  EXPECT_EQ(scope_.running(), 1U);
  for (int i = 11; i <= 40; ++i) ASSERT_TRUE(update(api::config_maps(), large_map("b", i)));
  loop_.drain();
  EXPECT_EQ(scope_.running(), 0U);
}

TEST_F(CrowdTest, ThoseWhoReadNothingShareWhatTheyAreTold) {
  make(api::config_maps(), large_map("a", 0));
  EXPECT_EQ(granted("a", 200), 200);
  EXPECT_LT(core().watches().texts.bytes(), std::size_t{2} << 20U);
  for (int i = 1; i <= 60; ++i) {
    ASSERT_TRUE(update(api::config_maps(), large_map("a", i)));
    open_watch("b");  // each begins with another version
    EXPECT_LE(core().watches().texts.bytes(), limits::kMaxEventBytesAtOnce + (2U << 20U));
  }
}

class EventGrowthTest : public ServerTest {
 protected:
  void add_event(int number) {
    json::Value event;
    event["metadata"] =
        json::Object{{"name", "e" + std::to_string(number)}, {"namespace", "default"}};
    event["involvedObject"] = json::Object{{"kind", "Pod"}, {"namespace", "default"}};
    event["lastTimestamp"] = format_time(loop_.now() + std::chrono::seconds(number));
    make(api::events(), std::move(event));
  }
};

TEST_F(EventGrowthTest, EventsAreCountedAndTheOldestGo) {
  const int many = static_cast<int>(limits::kMaxEvents) + 1'500;
  for (int i = 0; i < many; ++i) add_event(i);
  loop_.drain();
  EXPECT_LE(list(api::events(), {.limit = 0})->items.size(), limits::kMaxEvents + 1'000);
  EXPECT_FALSE(exists(api::events(), "e0"));
  EXPECT_TRUE(exists(api::events(), "e" + std::to_string(many - 1)));
  loop_.run_for(std::chrono::minutes(2));
  EXPECT_EQ(list(api::events(), {.limit = 0})->items.size(), limits::kMaxEvents);
}

}  // namespace
}  // namespace muster::server
