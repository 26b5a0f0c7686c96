#include "scheduler/scheduler.h"

#include "api/pod.h"
#include "api/waiting.h"
#include "simulation/forwarding_cluster.h"
#include "unit/controller/fixture.h"

namespace muster::scheduler {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SchedulerTest : public controller::InMemory {
 protected:
  SchedulerTest() {
    scope_.spawn(scheduler_.run());
    loop_.run_for(1s);
  }
  ~SchedulerTest() override { loop_.run(scope_.close()); }

  void add_node(const std::string& cpu) {
    const auto stored = must(
        cluster_->create(api::nodes(), json::Object{{"metadata", json::Object{{"name", "n"}}}}));
    json::Value node = *stored;
    node["status"]["conditions"] = json::Array{json::Object{{"type", "Ready"}, {"status", "True"}}};
    node["status"]["allocatable"] = json::Object{{"cpu", cpu}, {"memory", "8Gi"}, {"pods", "110"}};
    must(cluster_->update_status(api::nodes(), std::move(node)));
    loop_.run_for(1s);
  }
  static json::Value pod(const std::string& name, const std::string& cpu) {
    json::Value pod = controller::owned_pod(name, "");
    pod["metadata"].object().erase("ownerReferences");
    pod["spec"]["containers"].array()[0]["resources"]["requests"]["cpu"] = cpu;
    return pod;
  }
  void add_pod(const std::string& name, const std::string& cpu, int gang = 0) {
    json::Value added = pod(name, cpu);
    if (gang > 0) {
      added["metadata"]["labels"] =
          json::Object{{"muster.dev/gang", "g"}, {"muster.dev/gang-size", std::to_string(gang)}};
    }
    must(cluster_->create(api::pods(), std::move(added)));
    loop_.run_for(1s);
  }
  std::string node_of(const std::string& name) {
    return api::node_name_of(*get(api::pods(), name));
  }
  json::Value said(const std::string& name, std::string_view condition) {
    return api::condition_of(*get(api::pods(), name), condition);
  }
  std::string why(const std::string& name) {
    return said(name, "PodScheduled")["message"].as_string();
  }

  Scheduler scheduler_{loop_, *cluster_, rng_, Logger()};
  rt::TaskScope scope_{loop_};
};

// Events arrive a tenth of a second late, one after the other.
class LateWatch final : public cluster::Watch {
 public:
  LateWatch(rt::Loop& loop, std::unique_ptr<cluster::Watch> inner)
      : loop_(loop), inner_(std::move(inner)) {}
  Task<Result<cluster::WatchEvent>> next() override {
    auto event = CO_TRY(co_await inner_->next());
    CO_TRY(co_await rt::sleep_for(loop_, 100ms));
    co_return event;
  }

 private:
  rt::Loop& loop_;
  std::unique_ptr<cluster::Watch> inner_;
};

class LateNews final : public simulation::ForwardingCluster {
 public:
  LateNews(rt::Loop& loop, cluster::Cluster& inner) : ForwardingCluster(inner), loop_(loop) {}
  Task<Result<std::unique_ptr<cluster::Watch>>> watch(const api::Resource& resource,
                                                      cluster::WatchOptions options) override {
    auto inner = CO_TRY(co_await inner_.watch(resource, std::move(options)));
    std::unique_ptr<cluster::Watch> late = std::make_unique<LateWatch>(loop_, std::move(inner));
    co_return late;
  }

 private:
  rt::Loop& loop_;
};

TEST_F(SchedulerTest, NewsFromBeforeABindingDoNotFreeThePlace) {
  loop_.run(scope_.close());
  add_node("3");
  LateNews late(loop_, *cluster_);
  Scheduler scheduler(loop_, late, rng_, Logger());
  rt::TaskScope scope(loop_);
  scope.spawn(scheduler.run());
  loop_.run_for(1s);
  // One pod is made and changed before the scheduler hears of it; another, which goes first.
  must(cluster_->create(api::pods(), pod("a", "2")));
  json::Value labelled = *get(api::pods(), "a");
  labelled["metadata"]["labels"]["changed"] = "yes";
  must(cluster_->update(api::pods(), std::move(labelled)));
  json::Value urgent = pod("b", "2");
  urgent["spec"]["priority"] = 10;
  must(cluster_->create(api::pods(), std::move(urgent)));
  loop_.run_for(10s);
  EXPECT_EQ(node_of("a"), "n");
  EXPECT_EQ(node_of("b"), "") << "it would not fit beside the first";
  loop_.run(scope.close());
}

TEST_F(SchedulerTest, BindsWhatFits) {
  add_node("4");
  add_pod("a", "2");
  EXPECT_EQ(node_of("a"), "n");
}

TEST_F(SchedulerTest, PodsThatWaitAreBoundWhenANodeComes) {
  add_pod("a", "2");
  EXPECT_EQ(node_of("a"), "");
  add_node("4");
  EXPECT_EQ(node_of("a"), "n");
}

TEST_F(SchedulerTest, AGangStartsTogether) {
  add_node("4");
  add_pod("a", "2", 2);
  EXPECT_EQ(node_of("a"), "");
  add_pod("b", "2", 2);
  EXPECT_EQ(node_of("a"), "n");
  EXPECT_EQ(node_of("b"), "n");
}

TEST_F(SchedulerTest, SaysWhyAPodWaitsOnce) {
  add_node("4");
  add_pod("a", "6");
  EXPECT_THAT(why("a"), HasSubstr("Insufficient cpu"));
  EXPECT_THAT(why("a"), HasSubstr("never fit"));
  loop_.run_for(20min);
  EXPECT_THAT(all(api::events()), SizeIs(1));
}

TEST_F(SchedulerTest, SaysByAReasonThatAPodCanNeverStart) {
  add_node("4");
  add_pod("huge", "6");
  add_pod("a", "3");
  add_pod("b", "3");
  add_pod("lonely", "1", 2);
  EXPECT_EQ(said("huge", "PodScheduled")["reason"].as_string(), "Unschedulable");
  EXPECT_EQ(said("huge", api::kCannotStart)["reason"].as_string(), "NeverFits");
  EXPECT_EQ(said("b", "PodScheduled")["reason"].as_string(), "Unschedulable");
  EXPECT_TRUE(said("b", api::kCannotStart).is_null()) << "a may end";
  EXPECT_EQ(said("lonely", "PodScheduled")["reason"].as_string(), "GangIncomplete");
}

TEST_F(SchedulerTest, WhatCouldNeverStartWaitsOnAMachineThatHasGrown) {
  add_node("4");
  add_pod("a", "3");
  add_pod("huge", "6");
  EXPECT_EQ(said("huge", api::kCannotStart)["reason"].as_string(), "NeverFits");
  json::Value larger = *must(cluster_->get(api::nodes(), {.name = "n"}));
  larger["status"]["allocatable"]["cpu"] = "8";
  must(cluster_->update_status(api::nodes(), std::move(larger)));
  loop_.run_for(1min);
  EXPECT_EQ(node_of("huge"), "") << "a is still there";
  EXPECT_EQ(said("huge", "PodScheduled")["reason"].as_string(), "Unschedulable");
  EXPECT_TRUE(said("huge", api::kCannotStart).is_null());
}

TEST_F(SchedulerTest, SinceWhenAPodWaitsStaysWhenTheReasonChanges) {
  add_node("4");
  add_pod("a", "3");
  add_pod("b", "3", 2);
  const auto since = said("b", "PodScheduled")["lastTransitionTime"];
  loop_.run_for(1min);
  add_pod("c", "3", 2);
  EXPECT_EQ(said("b", "PodScheduled")["reason"].as_string(), "Unschedulable");
  EXPECT_EQ(said("b", "PodScheduled")["lastTransitionTime"], since);
}

TEST_F(SchedulerTest, ADeletedPodMakesRoom) {
  add_node("4");
  add_pod("a", "3");
  add_pod("b", "3");
  EXPECT_EQ(node_of("b"), "");
  must(cluster_->remove(api::pods(), {.ns = "default", .name = "a"}, {.grace_seconds = 0}));
  loop_.run_for(1s);
  EXPECT_EQ(node_of("b"), "n");
}

TEST_F(SchedulerTest, LeavesPodsOfOtherSchedulersAlone) {
  add_node("4");
  json::Value pod = controller::owned_pod("a", "");
  pod["metadata"].object().erase("ownerReferences");
  pod["spec"]["schedulerName"] = "volcano";
  must(cluster_->create(api::pods(), std::move(pod)));
  loop_.run_for(1s);
  EXPECT_EQ(node_of("a"), "");
  EXPECT_THAT(all(api::events()), IsEmpty());
}

TEST_F(SchedulerTest, AQueueIsOursWhateverSchedulerThePodNames) {
  add_node("4");
  json::Value pod = controller::owned_pod("a", "");
  pod["metadata"].object().erase("ownerReferences");
  pod["metadata"]["labels"]["muster.dev/queue"] = "q";
  pod["spec"]["schedulerName"] = "volcano";
  must(cluster_->create(api::pods(), std::move(pod)));
  loop_.run_for(1s);
  EXPECT_NE(node_of("a"), "");
}

TEST_F(SchedulerTest, ClosedGatesHoldAPodBack) {
  add_node("4");
  json::Value pod = controller::owned_pod("a", "");
  pod["metadata"].object().erase("ownerReferences");
  pod["spec"]["schedulingGates"] = json::Array{json::Object{{"name", "example.org/quota"}}};
  auto made = *must(cluster_->create(api::pods(), std::move(pod)));
  EXPECT_EQ(api::condition_of(made, "PodScheduled")["reason"].as_string(), "SchedulingGated");
  loop_.run_for(1s);
  EXPECT_EQ(node_of("a"), "");
  made["spec"].object().erase("schedulingGates");
  must(cluster_->update(api::pods(), std::move(made)));
  loop_.run_for(1s);
  EXPECT_NE(node_of("a"), "");
}

TEST_F(SchedulerTest, IsQuietWhenNothingChanges) {
  add_node("4");
  add_pod("a", "6");
  const std::string before = must(cluster_->list(api::pods(), {})).resource_version;
  loop_.run_for(30min);
  EXPECT_EQ(must(cluster_->list(api::pods(), {})).resource_version, before);
}

}  // namespace
}  // namespace muster::scheduler
