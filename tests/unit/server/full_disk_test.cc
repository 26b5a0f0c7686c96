#include <sqlite3.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/object.h"
#include "faulty_disk.h"
#include "home.h"
#include "rt/real_loop.h"
#include "server/http/answer.h"
#include "support.h"

// A disk without room is an answer, and what frees something is written all the same; a broken disk
// is the end.
namespace muster::server {
namespace {

using testing::HasSubstr;

class FullDisk : public testing::Test {
 protected:
  FullDisk() {
    registry_.add(std::make_unique<WidgetDialect>());
    open(disk_);
  }
  ~FullDisk() override {
    if (server_ != nullptr) close();
  }

  void open(StoreDisk& disk) {
    auto store = Store::open({.loop = loop_, .pool = &pool_, .home = home_.path(), .disk = &disk});
    ASSERT_TRUE(store) << store.error().message;
    store_ = store->get();
    auto core =
        Core::create({.loop = loop_, .rng = rng_, .registry = registry_}, std::move(*store));
    ASSERT_TRUE(core);
    server_ = std::move(*core);
    ASSERT_TRUE(loop_.run(server_->start()));
  }
  void close() {
    loop_.run(server_->close());
    server_.reset();
  }
  const Kind& kind(const api::Resource& resource) { return *server_->kinds().find(resource); }
  Result<ObjectPtr> create(const api::Resource& resource, json::Value object) {
    return loop_.run(server_->create(kind(resource), std::move(object)));
  }
  Result<ObjectPtr> remove(const api::Resource& resource, std::string name) {
    return loop_.run(
        server_->remove(kind(resource), {.ns = "default", .name = std::move(name)}, {}));
  }
  Result<ObjectPtr> get(const api::Resource& resource, std::string name) {
    return server_->get(kind(resource), {.ns = "default", .name = std::move(name)});
  }
  void pause(std::chrono::milliseconds time = std::chrono::milliseconds(10)) {
    [[maybe_unused]] const auto slept = loop_.run(rt::sleep_for(loop_, time));
  }
  // As a client does that is told to come back.
  Result<ObjectPtr> create_at_last(const api::Resource& resource, const json::Value& object) {
    auto made = create(resource, object);
    for (int tries = 0; tries < 300 && !made; ++tries) {
      pause();
      made = create(resource, object);
    }
    return made;
  }
  // Leaves not a byte.
  void fill() { disk_.limit(disk_.used()); }
  void make_room() { disk_.limit(0); }
  // Until nothing new is taken any more; what was acknowledged on the way.
  std::vector<std::string> create_until_refused() {
    std::vector<std::string> made;
    for (int i = 0; i < 10'000; ++i) {
      const std::string name = fmt::format("filler-{}", i);
      const auto answer = create(api::config_maps(), config_map(name, std::string(3'000, 'x')));
      if (!answer) {
        refusal_ = answer.error();
        return made;
      }
      made.push_back(name);
    }
    ADD_FAILURE() << "the disk is never full";
    return made;
  }

  Home home_;
  FaultyDisk disk_;
  rt::RealLoop loop_;
  rt::Pool pool_{1};
  SystemRng rng_;
  plan::Registry registry_;
  std::unique_ptr<Core> server_;
  Store* store_ = nullptr;
  Error refusal_;
};

TEST_F(FullDisk, IsAnAnswerThatSaysWhatToDo) {
  fill();
  create_until_refused();
  EXPECT_EQ(refusal_.code, ErrorCode::InsufficientStorage);
  EXPECT_THAT(refusal_.message, HasSubstr("the disk of " + home_.path() + " is full"));
  const auto answer = error_response(refusal_, nullptr);
  EXPECT_EQ(answer.status, 507);
  EXPECT_EQ(answer.headers.get("Retry-After").value_or(""), "1");
  const auto status = parse(answer.body);
  EXPECT_EQ(status["reason"].as_string(), "InsufficientStorage");
  EXPECT_EQ(status["code"].as_int(), 507);
  EXPECT_FALSE(server_->failure());
}

TEST_F(FullDisk, NothingOfWhatFailedStays) {
  auto watch = server_->watch(kind(api::config_maps()), {});
  ASSERT_TRUE(watch);
  fill();
  const auto made = create_until_refused();
  const auto listed = loop_.run(server_->list(kind(api::config_maps()), {}));
  EXPECT_EQ(listed->items.size(), made.size());
  for (const std::string& name : made) {
    const auto event = loop_.run((*watch)->next());
    ASSERT_TRUE(event);
    EXPECT_EQ(api::name_of(*event->object), name);
  }
  const auto more =
      loop_.run(rt::with_timeout(loop_, std::chrono::milliseconds(20), (*watch)->next()));
  EXPECT_FALSE(more) << "the refused one was announced";
  make_room();
  EXPECT_FALSE(get(api::config_maps(), fmt::format("filler-{}", made.size())));
}

// What was decided together fails together, and a name or an address that it took is free again.
TEST_F(FullDisk, WhatWasTakenIsFreeAgain) {
  const auto service = [](const char* name) {
    auto made = parse(R"({"spec":{"clusterIP":"10.96.7.7","ports":[{"port":1}]}})");
    made["metadata"]["name"] = name;
    made["metadata"]["namespace"] = "default";
    return made;
  };
  ASSERT_TRUE(create(api::services(), service("first")));
  fill();
  // So large that only a disk with room takes it: refused by the disk, not beforehand.
  auto large = service("second");
  large["spec"]["clusterIP"] = "10.96.7.8";
  large["metadata"]["annotations"]["text"] = std::string(250'000, 'x');
  const auto refused = create(api::services(), large);
  ASSERT_FALSE(refused);
  ASSERT_EQ(refused.error().code, ErrorCode::InsufficientStorage);
  make_room();
  const auto again = create_at_last(api::services(), large);
  EXPECT_TRUE(again) << (again ? "" : again.error().message);
  auto taken = service("third");
  EXPECT_FALSE(create(api::services(), taken)) << "the first one has that address";
}

TEST_F(FullDisk, DeletionsStatusAndBindingsGoThrough) {
  ASSERT_TRUE(create(api::pods(), pod("bound")));
  ASSERT_TRUE(create(api::pods(), pod("told")));
  ASSERT_TRUE(create(widgets(), widget("job")));
  fill();
  const auto made = create_until_refused();
  const auto bound = loop_.run(server_->bind({.ns = "default", .name = "bound"}, "", "node"));
  EXPECT_TRUE(bound) << (bound ? "" : bound.error().message);
  for (int round = 0; round < 200; ++round) {
    json::Value told = **get(api::pods(), "told");
    told["status"]["message"] = fmt::format("round {}", round);
    const auto written = loop_.run(server_->update_status(kind(api::pods()), told));
    ASSERT_TRUE(written) << round << ": " << written.error().message;
  }
  auto larger = **get(widgets(), "job");
  larger["metadata"]["labels"]["more"] = "text";
  EXPECT_EQ(loop_.run(server_->update(kind(widgets()), larger)).error().code,
            ErrorCode::InsufficientStorage);
  const auto gone = remove(widgets(), "job");
  EXPECT_TRUE(gone) << (gone ? "" : gone.error().message);
  for (const std::string& name : made) {
    const auto removed = remove(api::config_maps(), name);
    ASSERT_TRUE(removed) << name << ": " << removed.error().message;
  }
}

TEST_F(FullDisk, DeletionsMakeRoomForCreations) {
  ASSERT_TRUE(create(api::config_maps(), config_map("large", std::string(100'000, 'x'))));
  fill();
  create_until_refused();
  ASSERT_TRUE(remove(api::config_maps(), "large"));
  const auto made = create_at_last(api::config_maps(), config_map("small"));
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
}

TEST_F(FullDisk, GoesOnWhenThereIsRoomAgainAndHasEverythingAfterARestart) {
  fill();
  const auto made = create_until_refused();
  const Version before = store_->committed();
  make_room();
  const auto after = create_at_last(api::config_maps(), config_map("after"));
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_GT(store_->committed(), before);
  close();
  open(disk_);
  EXPECT_TRUE(get(api::config_maps(), "after"));
  for (const std::string& name : made) EXPECT_TRUE(get(api::config_maps(), name)) << name;
}

// A long log of writes that nobody had the time to copy into the database.
TEST_F(FullDisk, TheFirstWriteAfterAKillFindsRoomInTheLog) {
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(create(api::config_maps(), config_map(fmt::format("map-{}", i))));
  FaultyDisk after_kill(disk_.now());
  close();
  const auto left = after_kill.used();
  after_kill.limit(left);
  open(after_kill);
  const auto gone = remove(api::config_maps(), "map-0");
  EXPECT_TRUE(gone) << (gone ? "" : gone.error().message);
  EXPECT_TRUE(get(api::config_maps(), "map-99"));
  EXPECT_EQ(after_kill.used(), left) << "it keeps the room that it has";
  close();
}

// The garbage collector and the like come back to what they could not write.
TEST_F(FullDisk, KeepersFinishWhenThereIsRoom) {
  const auto owner_made = create(widgets(), widget("owner"));
  ASSERT_TRUE(owner_made);
  auto child = config_map("child", std::string(150'000, 'x'));
  child["metadata"]["ownerReferences"] = json::Array{owner(**owner_made)};
  ASSERT_TRUE(create(api::config_maps(), child));
  fill();
  create_until_refused();
  ASSERT_TRUE(remove(widgets(), "owner"));
  make_room();
  for (int tries = 0; tries < 400 && get(api::config_maps(), "child"); ++tries) pause();
  EXPECT_FALSE(get(api::config_maps(), "child"));
}

TEST_F(FullDisk, ABrokenDiskIsTheEnd) {
  ASSERT_TRUE(create(api::config_maps(), config_map("before")));
  std::optional<Error> told;
  store_->on_failure([&told](const Error& error) { told = error; });
  disk_.break_down();
  const auto refused = create(api::config_maps(), config_map("after"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Io);
  EXPECT_TRUE(told);
  EXPECT_TRUE(server_->failure());
  EXPECT_FALSE(remove(api::config_maps(), "before")) << "nothing is written any more";
}

// A database that is damaged while it is used: no answer, the end.
TEST_F(FullDisk, ADamagedDatabaseIsTheEnd) {
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(
        create(api::config_maps(), config_map(fmt::format("map-{}", i), std::string(5'000, 'x'))));
  close();
  auto image = disk_.now();
  std::string& database = image.files["store.db"];
  std::ranges::fill(database.begin() + 4096, database.end(), '\x5a');
  FaultyDisk damaged(image);
  const auto opened =
      Store::open({.loop = loop_, .pool = &pool_, .home = home_.path(), .disk = &damaged});
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("is corrupt"));
}

}  // namespace
}  // namespace muster::server
