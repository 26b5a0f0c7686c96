#include "kinds_fixture.h"

namespace muster::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

TEST_F(KindsTest, TwoGroupsOfOneKindNameDoNotCollide) {
  const plan::Identity a = toy("a.example");
  const plan::Identity b = toy("b.example");
  add(a);
  add(b);
  start();
  submit(a, "train");
  submit(b, "train2");
  EXPECT_THAT(pods(), ElementsAre("train-worker-0", "train2-worker-0"));
  must(cluster_->remove(a.resource, {.ns = "default", .name = "train"}, {}));
  loop_.run_for(10s);
  EXPECT_THAT(pods(), ElementsAre("train2-worker-0"));
}

TEST_F(KindsTest, TheKeysOfTwoVersionsAndGroupsDiffer) {
  const std::string one = Kind::prefix_of(toy("a.example", "v1").resource);
  EXPECT_NE(one, Kind::prefix_of(toy("a.example", "v2").resource));
  EXPECT_NE(one, Kind::prefix_of(toy("b.example", "v1").resource));
  EXPECT_FALSE(Kind::prefix_of(toy("a.example", "v1beta1").resource).starts_with(one));
}

TEST_F(KindsTest, AKindWithoutItsCrdWaitsAlone) {
  const plan::Identity a = toy("a.example");
  const plan::Identity b = toy("b.example");
  add(a);
  add(b);
  start("b.example");
  EXPECT_TRUE(loop_.run(controller_->wait_until_synced()).has_value());
  EXPECT_EQ(controller_->trouble(), "");
  submit(a, "here");
  EXPECT_THAT(pods(), ElementsAre("here-worker-0"));
  ASSERT_THAT(said_, SizeIs(1)) << "once, however often it is tried";
  EXPECT_THAT(said_[0], HasSubstr("msjobs.b.example"));
  EXPECT_THAT(said_[0], HasSubstr("kubectl apply --server-side -k deploy/crds"));
  EXPECT_THAT(controller_->metrics(),
              HasSubstr("muster_kind_waits_for_crd{kind=\"msjobs.b.example\",version=\"v1\"} 1"));
  const std::string in_trouble = "muster_reflector_in_trouble{resource=\"msjobs.b.example\"";
  EXPECT_THAT(controller_->metrics(), Not(HasSubstr(in_trouble)));
  const int before = front_->lists;
  loop_.run_for(1min);
  EXPECT_LE(front_->lists - before, 30) << "no busy loop";
  // The CRD appears, and with it a job.
  front_->absent = "none";
  submit(b, "there");
  EXPECT_THAT(pods(), ElementsAre("here-worker-0", "there-worker-0"));
  EXPECT_THAT(controller_->metrics(),
              HasSubstr("muster_kind_waits_for_crd{kind=\"msjobs.b.example\",version=\"v1\"} 0"));
  EXPECT_THAT(controller_->metrics(), HasSubstr(in_trouble + ",version=\"v1\"} 0"));
}

TEST_F(KindsTest, WithoutAnyCrdNothingElseIsAskedFor) {
  add(toy("a.example"));
  start("a.example");
  loop_.run_for(1min);
  EXPECT_THAT(controller_->metrics(), Not(HasSubstr("resource=\"pods\"")));
}

TEST_F(KindsTest, WhatCannotBeListedIsTheReasonForNotBeingReady) {
  const plan::Identity a = toy("a.example");
  add(a);
  start("a.example");
  front_->absent = "none";
  front_->forbidden = api::pods();
  loop_.run_for(1min);
  EXPECT_THAT(controller_->trouble(), HasSubstr("listing pods: you may not"));
  EXPECT_THAT(controller_->metrics(),
              HasSubstr("muster_reflector_in_trouble{resource=\"pods\",version=\"v1\"} 1"));
  submit(a, "train");
  EXPECT_THAT(pods(), IsEmpty()) << "half of what exists is not decided on";
  front_->forbidden = {};
  loop_.run_for(1min);
  EXPECT_EQ(controller_->trouble(), "");
  EXPECT_THAT(pods(), ElementsAre("train-worker-0"));
}

TEST_F(KindsTest, AChildOfAnyResourceIsMadeAndMadeAgain) {
  plan::Identity identity = toy("a.example");
  identity.children = {api::services(), api::config_maps()};
  add(identity, [](plan::Plan& plan) {
    plan.objects.push_back(
        {.id = {api::config_maps(), plan.job.name + "-hosts"},
         .body = json::Object{{"apiVersion", "v1"},
                              {"kind", "ConfigMap"},
                              {"metadata", json::Object{{"name", plan.job.name + "-hosts"}}},
                              {"data", json::Object{{"hosts", "train-worker-0"}}}}});
  });
  start();
  submit(identity, "train");
  const auto map = get(api::config_maps(), "train-hosts");
  EXPECT_EQ((*map)["data"]["hosts"].as_string(), "train-worker-0");
  EXPECT_EQ(api::controller_uid_of(*map), api::uid_of(*get(identity.resource, "train")));
  must(cluster_->remove(api::config_maps(), api::key_of(*map), {}));
  loop_.run_for(10s);
  EXPECT_NE(api::uid_of(*get(api::config_maps(), "train-hosts")), api::uid_of(*map));
}

// PD-20 and MS: nothing is done for a job that is on its way out but letting it go.
TEST_F(KindsTest, PD20_AJobIsNotHeldByTheFinalizerOfTheOperatorThatWeReplaced) {
  plan::Identity identity = toy("old.example.org");
  identity.foreign_finalizer = "finalizers.example.org";
  add(identity);
  start();
  json::Value job = small_job("held");
  job["apiVersion"] = identity.resource.api_version();
  job["metadata"]["finalizers"] = json::Array{"finalizers.example.org"};
  must(cluster_->create(identity.resource, job));
  job["metadata"]["name"] = "kept";
  job["metadata"]["finalizers"].array().emplace_back("another.example.org/finalizer");
  must(cluster_->create(identity.resource, job));
  loop_.run_for(6s);
  EXPECT_THAT(pods(), SizeIs(2));
  for (const char* name : {"held", "kept"}) {
    const auto stored = get(identity.resource, name);
    EXPECT_EQ((*stored)["metadata"]["finalizers"][0].as_string(), "finalizers.example.org")
        << "as long as nobody deletes it";
    must(cluster_->remove(identity.resource, {.ns = "default", .name = name}, {}));
  }
  loop_.run_for(6s);
  const auto left = all(identity.resource);
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(api::name_of(*left[0]), "kept");
  EXPECT_THAT((*left[0])["metadata"]["finalizers"].as_array(),
              ElementsAre(json::Value("another.example.org/finalizer")));
}

}  // namespace
}  // namespace muster::controller
