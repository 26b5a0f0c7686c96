#include "controller/child_cache.h"
#include "controller/job_cache.h"

#include "fixture.h"

namespace muster::controller {
namespace {

using cluster::EventType;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

cluster::ObjectPtr share(json::Value object) {
  return std::make_shared<const json::Value>(std::move(object));
}

// A list of one page.
void list(cluster::Sink& sink, std::vector<cluster::ObjectPtr> objects, const char* version) {
  sink.begin();
  sink.stage(std::move(objects));
  sink.commit(version);
}

json::Value with_phase(json::Value pod, const char* phase) {
  pod["status"]["phase"] = phase;
  return pod;
}

class ChildCacheTest : public ::testing::Test {
 protected:
  void event(EventType type, const json::Value& pod) {
    cache_.apply({.type = type, .object = share(pod)});
  }
  api::PodPhase phase() {
    const auto pods = cache_.of("job");
    return pods.empty() ? api::PodPhase::Unknown : pods.front().phase;
  }

  std::vector<std::string> changed_;
  ChildCache<engine::PodView> cache_{&engine::PodView::from,
                                     [this](const std::string& uid, bool lost) {
                                       changed_.push_back(uid + (lost ? " lost" : ""));
                                     }};
};

TEST_F(ChildCacheTest, OlderNewsNeverReplacesNewer) {
  event(EventType::Added, with_phase(owned_pod("p", "job", "5"), "Running"));
  event(EventType::Modified, with_phase(owned_pod("p", "job", "4"), "Pending"));
  cache_.learn(with_phase(owned_pod("p", "job", "3"), "Pending"));
  EXPECT_EQ(phase(), api::PodPhase::Running);
  EXPECT_THAT(changed_, ElementsAre("job"));
}

TEST_F(ChildCacheTest, TheSameNewsTwiceIsNoChange) {
  event(EventType::Added, owned_pod("p", "job", "5"));
  event(EventType::Added, owned_pod("p", "job", "5"));
  EXPECT_THAT(changed_, ElementsAre("job"));
}

TEST_F(ChildCacheTest, AnAnswerThatTheStreamOvertookDoesNotBringThePodBack) {
  event(EventType::Added, owned_pod("p", "job", "5"));
  event(EventType::Deleted, owned_pod("p", "job", "6"));
  cache_.learn(owned_pod("p", "job", "5"));
  EXPECT_THAT(cache_.of("job"), IsEmpty());
}

TEST_F(ChildCacheTest, WhatWasForgottenOfAPodComesBackWithNewsOfIt) {
  json::Value ended = with_phase(owned_pod("p", "job", "5"), "Failed");
  ended["status"]["message"] = std::string(4096, 'x');
  ended["status"]["containerStatuses"] = json::Array{json::Object{{"name", "main"}}};
  event(EventType::Added, ended);
  cache_.lend("job", [](std::vector<engine::PodView>& pods) {
    pods.at(0).forget_details();
    return true;
  });
  EXPECT_THAT(cache_.of("job")[0].containers, IsEmpty());
  EXPECT_EQ(cache_.of("job")[0].message, "");
  EXPECT_EQ(phase(), api::PodPhase::Failed);
  ended["metadata"]["resourceVersion"] = "6";
  event(EventType::Modified, ended);
  EXPECT_THAT(cache_.of("job")[0].containers, SizeIs(1));
}

TEST_F(ChildCacheTest, WhatAPodSaidWhenItWentIsKeptUntilItIsLookedAt) {
  ChildCache<engine::PodView> cache(
      &engine::PodView::from, [](const std::string&, bool) {}, &engine::PodView::has_last_words);
  json::Value taken = with_phase(owned_pod("taken", "job", "7"), "Failed");
  taken["status"]["conditions"] =
      json::Array{json::Object{{"type", "DisruptionTarget"}, {"status", "True"}}};
  const auto tell = [&](EventType type, const json::Value& pod) {
    cache.apply({.type = type, .object = share(pod)});
  };
  tell(EventType::Added, owned_pod("taken", "job", "5"));
  tell(EventType::Added, owned_pod("deleted", "job", "6"));
  tell(EventType::Deleted, taken);
  tell(EventType::Deleted, owned_pod("deleted", "job", "8"));
  ASSERT_THAT(cache.of("job"), SizeIs(1));
  EXPECT_TRUE(cache.of("job")[0].deleting);
  EXPECT_EQ(cache.of("job")[0].phase, api::PodPhase::Failed);
  const auto gone = cache.gone_of("job");
  EXPECT_THAT(gone, ElementsAre("uid-taken"));
  cache.bury("job", gone);
  EXPECT_EQ(cache.size(), 0U);
  tell(EventType::Added, owned_pod("taken", "job", "9"));
  cache.expect_deletion("job", "uid-taken");
  tell(EventType::Deleted, taken);
  EXPECT_EQ(cache.size(), 0U) << "we wished it ourselves";
}

TEST_F(ChildCacheTest, OurOwnWriteIsKnownBeforeTheStreamTells) {
  cache_.learn(owned_pod("p", "job", "9"));
  EXPECT_THAT(cache_.of("job"), SizeIs(1));
  EXPECT_THAT(changed_, IsEmpty());
}

TEST_F(ChildCacheTest, AListKeepsOnlyWhatItHoldsOrCouldNotKnow) {
  event(EventType::Added, owned_pod("gone", "job", "3"));
  cache_.learn(owned_pod("new", "job", "12"));
  list(cache_, {share(owned_pod("listed", "job", "8"))}, "10");
  const auto pods = cache_.of("job");
  ASSERT_THAT(pods, SizeIs(2));
  EXPECT_EQ(pods[0].name, "listed");
  EXPECT_EQ(pods[1].name, "new");
}

TEST_F(ChildCacheTest, OnceAskedToGoItStaysOnItsWayOut) {
  event(EventType::Added, owned_pod("p", "job", "5"));
  cache_.mark_deleting("job", "uid-p");
  event(EventType::Modified, owned_pod("p", "job", "6"));
  EXPECT_TRUE(cache_.of("job").front().deleting);
}

TEST_F(ChildCacheTest, SaysWhetherAChildWentByOurWish) {
  event(EventType::Added, owned_pod("p", "job", "5"));
  event(EventType::Deleted, owned_pod("p", "job", "6"));
  event(EventType::Added, owned_pod("q", "job", "7"));
  cache_.expect_deletion("job", "uid-q");
  event(EventType::Deleted, owned_pod("q", "job", "8"));
  EXPECT_THAT(changed_, ElementsAre("job", "job lost", "job", "job"));
}

TEST_F(ChildCacheTest, AListTellsOfALossToo) {
  event(EventType::Added, owned_pod("p", "job", "5"));
  list(cache_, {}, "10");
  EXPECT_THAT(changed_, ElementsAre("job", "job lost"));
}

TEST_F(ChildCacheTest, AListThatIsNotWholeChangesNothing) {
  event(EventType::Added, owned_pod("old", "job", "3"));
  cache_.begin();
  cache_.stage({share(owned_pod("first", "job", "8"))});
  ASSERT_THAT(cache_.of("job"), SizeIs(1));
  EXPECT_EQ(cache_.of("job")[0].name, "old");
  // It broke off; the next one finds other objects.
  cache_.begin();
  cache_.stage({share(owned_pod("second", "job", "9"))});
  cache_.stage({share(owned_pod("third", "job", "10"))});
  cache_.commit("11");
  const auto pods = cache_.of("job");
  ASSERT_THAT(pods, SizeIs(2));
  EXPECT_EQ(pods[0].name, "second");
  EXPECT_EQ(pods[1].name, "third");
}

TEST_F(ChildCacheTest, WhatHappensWhileAListIsUnderWayIsNotUndone) {
  event(EventType::Added, with_phase(owned_pod("p", "job", "5"), "Pending"));
  event(EventType::Added, owned_pod("q", "job", "6"));
  cache_.begin();
  cache_.stage({share(with_phase(owned_pod("p", "job", "8"), "Pending")),
                share(owned_pod("q", "job", "9"))});
  cache_.learn(with_phase(owned_pod("p", "job", "12"), "Running"));
  cache_.expect_deletion("job", "uid-q");
  cache_.mark_deleting("job", "uid-q");
  cache_.commit("10");
  const auto pods = cache_.of("job");
  ASSERT_THAT(pods, SizeIs(2));
  EXPECT_EQ(pods[0].phase, api::PodPhase::Running);
  EXPECT_TRUE(pods[1].deleting);
  changed_.clear();
  event(EventType::Deleted, owned_pod("q", "job", "13"));
  EXPECT_THAT(changed_, ElementsAre("job")) << "it went by our wish";
}

TEST_F(ChildCacheTest, WhatWasListedInAnUnfinishedListOnlyIsGone) {
  event(EventType::Added, owned_pod("p", "job", "5"));
  cache_.begin();
  cache_.stage({share(owned_pod("p", "job", "5"))});
  list(cache_, {}, "10");
  EXPECT_THAT(cache_.of("job"), IsEmpty());
}

TEST_F(ChildCacheTest, WhatNobodyOwnsIsNotKept) {
  json::Value pod = owned_pod("p", "job", "5");
  pod["metadata"].object().erase("ownerReferences");
  event(EventType::Added, pod);
  list(cache_, {share(pod)}, "6");
  EXPECT_EQ(cache_.size(), 0U);
}

class JobCacheTest : public ::testing::Test {
 protected:
  static cluster::ObjectPtr job(const char* uid, const char* version) {
    return share(json::Object{
        {"metadata",
         json::Object{
             {"name", "train"}, {"namespace", "ns"}, {"uid", uid}, {"resourceVersion", version}}}});
  }
  std::string version() {
    const auto found = cache_.find(kKey);
    return found ? api::resource_version_of(*found) : "none";
  }

  const api::ObjectKey kKey{.ns = "ns", .name = "train"};
  int changes_ = 0;
  JobCache cache_{[this](const api::ObjectKey&) { ++changes_; }};
};

TEST_F(JobCacheTest, OlderNewsNeverReplacesNewer) {
  cache_.apply({.type = EventType::Added, .object = job("a", "5")});
  cache_.apply({.type = EventType::Modified, .object = job("a", "4")});
  cache_.learn(job("a", "3"));
  EXPECT_EQ(version(), "5");
  EXPECT_EQ(changes_, 1);
}

TEST_F(JobCacheTest, AnAnswerDoesNotBringADeletedJobBack) {
  cache_.apply({.type = EventType::Added, .object = job("a", "5")});
  cache_.apply({.type = EventType::Deleted, .object = job("a", "7")});
  cache_.learn(job("a", "6"));
  EXPECT_EQ(version(), "none");
  EXPECT_EQ(cache_.key_of("a"), nullptr);
}

TEST_F(JobCacheTest, TheDeletionOfAnOldJobLeavesItsNamesakeAlone) {
  cache_.apply({.type = EventType::Added, .object = job("a", "5")});
  cache_.apply({.type = EventType::Added, .object = job("b", "8")});
  cache_.apply({.type = EventType::Deleted, .object = job("a", "7")});
  cache_.forget(kKey, "a");
  EXPECT_EQ(version(), "8");
  EXPECT_EQ(cache_.key_of("a"), nullptr);
  EXPECT_NE(cache_.key_of("b"), nullptr);
}

TEST_F(JobCacheTest, AListKeepsOurNewerWrite) {
  cache_.apply({.type = EventType::Added, .object = job("a", "5")});
  cache_.learn(job("a", "9"));
  list(cache_, {job("a", "5")}, "7");
  EXPECT_EQ(version(), "9");
}

TEST_F(JobCacheTest, AListThatIsNotWholeChangesNothing) {
  cache_.apply({.type = EventType::Added, .object = job("a", "5")});
  cache_.begin();
  cache_.stage({job("a", "6")});
  EXPECT_EQ(version(), "5");
  list(cache_, {}, "7");
  EXPECT_EQ(version(), "none");
}

TEST_F(JobCacheTest, WhatAListDoesNotHoldIsGoneAndSaidSo) {
  cache_.apply({.type = EventType::Added, .object = job("a", "5")});
  list(cache_, {}, "7");
  EXPECT_EQ(version(), "none");
  EXPECT_EQ(changes_, 2);
}

}  // namespace
}  // namespace muster::controller
