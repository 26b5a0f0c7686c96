#include "cli/jobs/wait_deleted.h"
#include "cli/verbs/verbs.h"
#include "rt/scope.h"
#include "verb_fixture.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

const json::Value kRunning = json::Object{{"running", json::Object{}}};

class Deletion : public VerbTest {
 public:
  using VerbTest::cluster;
  using VerbTest::loop;
  using VerbTest::output;

 protected:
  rt::TaskScope scope_{loop()};
};

// Somebody still has to clear up after it: `delete` waits for that, and `get` says what is going
// on.
TEST_F(Deletion, ADeletionIsWaitedFor) {
  json::Value held = pod("held", kRunning);
  held["metadata"]["finalizers"] = json::Array{"toy.dev/hold"};
  create(api::pods(), held);
  struct Story {
    static Task<void> play(Deletion& it) {
      const api::ObjectKey key{.ns = "default", .name = "held"};
      auto now = co_await it.cluster().get(api::pods(), key);
      while (now && !api::is_deleting(**now)) {
        static_cast<void>(co_await rt::sleep_for(it.loop(), std::chrono::milliseconds(5)));
        now = co_await it.cluster().get(api::pods(), key);
      }
      EXPECT_TRUE(now) << "nobody has cleared up yet";
      if (!now) co_return;
      static_cast<void>(co_await rt::sleep_for(it.loop(), std::chrono::milliseconds(20)));
      EXPECT_EQ(it.output().out, "");
      json::Value freed = **now;
      freed["metadata"]["finalizers"] = json::Array{};
      EXPECT_TRUE(co_await it.cluster().update(api::pods(), std::move(freed)));
    }
  };
  rt::TaskScope scope(loop());
  scope.spawn(Story::play(*this));
  const Outcome seen = outcome([](Context& context) {
    return remove(context, {.words = {"pods/held"}, .grace_seconds = 0});
  });
  loop().run(scope.close());
  EXPECT_EQ(seen.out, "pods \"held\" deleted\n") << seen.err;
}

TEST_F(Deletion, WhatIsOnItsWayOutIsTerminating) {
  json::Value held = pod("held", kRunning);
  held["metadata"]["finalizers"] = json::Array{"toy.dev/hold"};
  create(api::pods(), held);
  ASSERT_TRUE(loop().run(cluster().remove(api::pods(), {.ns = "default", .name = "held"}, {})));
  EXPECT_THAT(outcome([](Context& context) { return get(context, {.words = {"pods"}}); }).out,
              HasSubstr("Terminating"));
}

// A pod that no owner takes along stands for one that the collector has not come to.
TEST_F(Deletion, AWaitForTheCollectorOfAClusterIsSaid) {
  const ToyKind& toy = kind("TrainJob", "example.org");
  create(toy, "bert");
  create(api::pods(), rank(toy, "bert", 0));
  output().told = [this] {
    scope_.spawn([](Deletion& it) -> Task<void> {
      static_cast<void>(co_await it.cluster().remove(
          api::pods(), {.ns = "default", .name = "bert-rank-0"}, {.grace_seconds = 0}));
    }(*this));
  };
  const Outcome seen = outcome([this](Context& context) {
    context.kubeconfig = kubeconfig();
    return remove(context, {.words = {"bert"}});
  });
  output().told = {};
  loop().run(scope_.close());
  EXPECT_EQ(seen.err,
            "note: bert is deleted, 1 of its pods not yet: waiting for the cluster's garbage "
            "collector, which may need 40 s to learn of a kind whose CRD is new\n");
  EXPECT_EQ(seen.out, "trainjobs.example.org \"bert\" deleted\n");
}

// Pods go with their job here; one that takes its time is nobody else's business.
TEST_F(Deletion, OnThisMachineThereIsNoCollectorToWaitFor) {
  const ToyKind& toy = kind("TrainJob", "example.org");
  create(toy, "bert");
  create(api::pods(), rank(toy, "bert", 0));
  scope_.spawn([](Deletion& it) -> Task<void> {
    // Longer than what `delete` waits for before it would say so.
    static_cast<void>(
        co_await rt::sleep_for(it.loop(), kCollectorPatience + std::chrono::seconds(1)));
    static_cast<void>(co_await it.cluster().remove(
        api::pods(), {.ns = "default", .name = "bert-rank-0"}, {.grace_seconds = 0}));
  }(*this));
  const Outcome seen =
      outcome([](Context& context) { return remove(context, {.words = {"bert"}}); });
  loop().run(scope_.close());
  EXPECT_EQ(seen.err, "");
  EXPECT_EQ(seen.out, "trainjobs.example.org \"bert\" deleted\n");
}

}  // namespace
}  // namespace muster::cli
