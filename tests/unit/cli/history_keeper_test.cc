#include "cli/history/history_keeper.h"

#include "plan/plan.h"
#include "verb_fixture.h"

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

class HistoryKeeperTest : public VerbTest {
 public:
  using Story = Task<void> (*)(HistoryKeeperTest& it, cluster::Cluster& cluster);

  HistoryKeeperTest() : toy_(kind("Toy", "toy.dev")) {}

  // Lets a keeper watch while a story happens in the cluster.
  void keep(Story story) {
    outcome([&](Context& context) { return kept(context, story); });
  }
  Task<int> kept(Context& context, Story story) {
    auto target = co_await OpenCluster::open(context, PlaneParts::Store);
    EXPECT_TRUE(target) << target.error().message;
    if (!target) co_return 1;
    HistoryKeeper keeper(context, (*target)->cluster(), quota_);
    keeper.start();
    co_await story(*this, (*target)->cluster());
    co_await keeper.close();
    co_await (*target)->close();
    co_return 0;
  }

  Task<std::string> make_job(cluster::Cluster& cluster, std::string name) {
    const auto made = co_await cluster.create(toy_.identity().resource, toy_.job(name));
    EXPECT_TRUE(made) << made.error().message;
    co_return made ? api::uid_of(**made) : "";
  }
  Task<void> make_pod(cluster::Cluster& cluster, std::string name, std::string job_uid, int index) {
    json::Value pod = json::Object{{"apiVersion", "v1"}, {"kind", "Pod"}};
    pod["metadata"] = json::Object{{"name", name}, {"namespace", "default"}};
    pod["spec"]["containers"] =
        json::Array{json::Object{{"name", "main"}, {"image", "x"}, {"command", json::Array{"x"}}}};
    if (!job_uid.empty()) {
      pod["metadata"]["labels"] =
          json::Object{{std::string(plan::labels::kRole), "Rank"},
                       {std::string(plan::labels::kIndex), std::to_string(index)}};
      pod["metadata"]["ownerReferences"] =
          json::Array{api::OwnerReference{.api_version = "toy.dev/v1",
                                          .kind = "Toy",
                                          .name = "bert",
                                          .uid = job_uid,
                                          .controller = true}
                          .to_json()};
    }
    const auto made = co_await cluster.create(api::pods(), std::move(pod));
    EXPECT_TRUE(made) << made.error().message;
  }
  Task<void> end_pod(cluster::Cluster& cluster, std::string name, int code) {
    const auto pod = co_await cluster.get(api::pods(), {.ns = "default", .name = name});
    json::Value changed = **pod;
    changed["status"]["phase"] = code == 0 ? "Succeeded" : "Failed";
    changed["status"]["containerStatuses"] = json::Array{
        json::Object{{"name", "main"},
                     {"state", json::Object{{"terminated", json::Object{{"exitCode", code}}}}}}};
    const auto stored = co_await cluster.update_status(api::pods(), std::move(changed));
    EXPECT_TRUE(stored) << stored.error().message;
  }
  // The record, once it is like that.
  Task<RunRecord> once(std::string uid, std::function<bool(const RunRecord&)> like) {
    for (int i = 0; i < 2000; ++i) {
      auto record = read_record(home(), uid);
      if (record && like(*record)) co_return std::move(*record);
      [[maybe_unused]] const auto slept = co_await rt::sleep_for(loop(), milliseconds(5));
    }
    ADD_FAILURE() << "nothing of the kind was written down of " << uid;
    co_return RunRecord{};
  }
  Task<void> set_state(json::Value status) { return store_status(toy_, "bert", std::move(status)); }
  static bool has_ended(const RunRecord& run) { return run.end.has_value(); }

  const ToyKind& toy_;
  Quota quota_;
  std::string uid_;
};

TEST_F(HistoryKeeperTest, WritesDownAJobItsRanksAndItsEnd) {
  keep([](HistoryKeeperTest& it, cluster::Cluster& cluster) -> Task<void> {
    const std::string uid = co_await it.make_job(cluster, "bert");
    co_await it.make_pod(cluster, "bert-0", uid, 0);
    co_await it.make_pod(cluster, "bert-1", uid, 1);
    co_await it.end_pod(cluster, "bert-1", 7);
    co_await it.once(uid, [](const RunRecord& run) {
      return run.pods.size() == 2 && run.pods[1].exit_code == 7;
    });
    co_await it.set_state(json::Object{{"state", "BROKEN"}, {"remark", "so sad"}});
    const RunRecord run = co_await it.once(uid, has_ended);
    EXPECT_EQ(run.name, "bert");
    EXPECT_EQ(run.kind, "Toy");
    EXPECT_EQ(run.resource, "toys.toy.dev");
    EXPECT_EQ(run.end->result, "Failed");
    EXPECT_EQ(run.end->exit_code, 1);
    EXPECT_EQ(run.end->message, "so sad");
    EXPECT_EQ(run.end->ranks, 4);
    EXPECT_EQ(run.pods[0].role, "Rank");
    EXPECT_FALSE(run.pods[0].exit_code);
    EXPECT_EQ(run.pods[1].index, 1);
    EXPECT_TRUE(run.pods[1].failed);
    EXPECT_THAT(run.pods[1].containers, ::testing::ElementsAre("main"));
  });
}

TEST_F(HistoryKeeperTest, WhatIsDeletedBeforeItsEndIsSaidToBe) {
  keep([](HistoryKeeperTest& it, cluster::Cluster& cluster) -> Task<void> {
    const std::string uid = co_await it.make_job(cluster, "bert");
    const api::ObjectKey key{.ns = "default", .name = "bert"};
    co_await it.once(uid, [](const RunRecord& run) { return run.name == "bert"; });
    EXPECT_TRUE(co_await cluster.remove(it.toy_.identity().resource, key, {.uid = uid}));
    const RunRecord run = co_await it.once(uid, has_ended);
    EXPECT_EQ(run.end->result, "Deleted");
    EXPECT_EQ(run.end->exit_code, 130);
  });
}

TEST_F(HistoryKeeperTest, APodThatNobodyControlsIsARun) {
  keep([](HistoryKeeperTest& it, cluster::Cluster& cluster) -> Task<void> {
    co_await it.make_pod(cluster, "solo", "", 0);
    const auto pod = co_await cluster.get(api::pods(), {.ns = "default", .name = "solo"});
    co_await it.end_pod(cluster, "solo", 0);
    const RunRecord run = co_await it.once(api::uid_of(**pod), has_ended);
    EXPECT_EQ(run.kind, "Pod");
    EXPECT_EQ(run.end->result, "Succeeded");
    EXPECT_EQ(run.pods.size(), 1U);
  });
}

// Whoever comes next goes on in the same files: nothing is written twice, and what ended while
// nobody watched is found.
TEST_F(HistoryKeeperTest, TheNextKeeperGoesOn) {
  keep([](HistoryKeeperTest& it, cluster::Cluster& cluster) -> Task<void> {
    it.uid_ = co_await it.make_job(cluster, "bert");
    co_await it.once(it.uid_, [](const RunRecord& run) { return !run.name.empty(); });
  });
  set_status(toy_, "bert", json::Object{{"state", "DONE"}});
  keep([](HistoryKeeperTest& it, cluster::Cluster& cluster) -> Task<void> {
    const RunRecord run = co_await it.once(it.uid_, has_ended);
    EXPECT_EQ(run.end->result, "Succeeded");
    const api::ObjectKey key{.ns = "default", .name = "bert"};
    EXPECT_TRUE(co_await cluster.remove(it.toy_.identity().resource, key, {.uid = it.uid_}));
    const std::string later = co_await it.make_job(cluster, "later");
    co_await it.once(later, [](const RunRecord& next) { return !next.name.empty(); });
  });
  EXPECT_EQ(read_record(home(), uid_)->end->result, "Succeeded") << "its deletion is no other end";
}

}  // namespace
}  // namespace muster::cli
