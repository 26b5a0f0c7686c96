// Suspension of kinds that have no field for it, and children of groups that a server may lack.
#include "plan/suspend.h"
#include "kinds_fixture.h"

namespace muster::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SuspendTest : public KindsTest {
 protected:
  void begin(const std::string& suspend_path) {
    identity_ = toy("a.example");
    identity_.suspend_path = suspend_path;
    add(identity_);
    start();
    submit(identity_, "train");
  }
  void annotate(const std::string& value) {
    json::Value job = *get(identity_.resource, "train");
    job["metadata"]["annotations"][plan::kSuspendAnnotation] = value;
    must(cluster_->update(identity_.resource, std::move(job)));
    loop_.run_for(6s);
  }
  std::string phase() {
    return (*get(identity_.resource, "train"))["status"]["muster"]["phase"].as_string();
  }

  plan::Identity identity_;
};

TEST_F(SuspendTest, TheAnnotationHoldsAJobAndLetsItGo) {
  begin("");
  EXPECT_THAT(pods(), SizeIs(1));
  annotate("true");
  EXPECT_EQ(phase(), "Suspended");
  EXPECT_THAT(pods(), IsEmpty());
  restart();
  loop_.run_for(10min);
  EXPECT_THAT(pods(), IsEmpty()) << "nothing begins again by itself";
  annotate("false");
  EXPECT_EQ(phase(), "Created");
  EXPECT_THAT(pods(), ElementsAre("train-worker-0"));
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(SuspendTest, AKindWithAFieldOfItsOwnSaysThatItIsTheField) {
  begin("spec.runPolicy.suspend");
  annotate("true");
  EXPECT_THAT(pods(), SizeIs(1));
  ASSERT_THAT(warnings(), SizeIs(1));
  EXPECT_THAT(warnings()[0], HasSubstr("is suspended by spec.runPolicy.suspend"));
  loop_.run_for(10min);
  EXPECT_THAT(warnings(), SizeIs(1)) << "once";
}

TEST_F(SuspendTest, AValueThatMeansNothingIsSaid) {
  begin("");
  annotate("yes");
  EXPECT_THAT(pods(), SizeIs(1));
  ASSERT_THAT(warnings(), SizeIs(1));
  EXPECT_THAT(warnings()[0], HasSubstr("\"yes\" is neither \"true\" nor \"false\""));
}

const api::Resource kGroups{.group = "groups.example",
                            .version = "v1",
                            .plural = "podgroups",
                            .kind = "PodGroup",
                            .scope = api::Scope::Namespaced};

class OptionalTest : public KindsTest {
 protected:
  // Jobs whose name begins with "gang" have a group, which their pods wait for.
  void begin(const std::string& absent) {
    identity_ = toy("a.example");
    identity_.suspend_path = "";
    identity_.optional_children = {kGroups};
    add(identity_, [](plan::Plan& plan) {
      if (!plan.job.name.starts_with("gang")) return;
      plan.objects.push_back({.id = {kGroups, plan.job.name},
                              .body = json::Object{{"apiVersion", kGroups.api_version()},
                                                   {"kind", kGroups.kind},
                                                   {"spec", json::Object{{"minMember", 1}}}},
                              .ends_with_job = true});
      for (plan::Role& role : plan.roles) role.after.push_back({kGroups, plan.job.name});
    });
    start(absent);
  }
  plan::Identity identity_;
};

TEST_F(OptionalTest, AJobThatNeedsNoneRunsWithoutTheirCrdAndOneThatDoesWaitsForIt) {
  begin(kGroups.group);
  EXPECT_TRUE(loop_.run(controller_->wait_until_synced()).has_value());
  EXPECT_EQ(controller_->trouble(), "");
  const std::string in_trouble =
      "muster_reflector_in_trouble{resource=\"podgroups.groups.example\"";
  EXPECT_THAT(controller_->metrics(), Not(HasSubstr(in_trouble)));
  submit(identity_, "plain");
  submit(identity_, "gang");
  EXPECT_THAT(pods(), ElementsAre("plain-worker-0"));
  EXPECT_THAT(warnings(), Contains(HasSubstr("404")));
  front_->absent = "none";
  loop_.run_for(1min);
  EXPECT_THAT(pods(), ElementsAre("gang-worker-0", "plain-worker-0"));
  EXPECT_THAT(controller_->metrics(), HasSubstr(in_trouble + ",version=\"v1\"} 0"));
  // What is there and may not be read is trouble, optional or not.
  front_->forbidden = kGroups;
  loop_.run_for(15min);
  EXPECT_THAT(controller_->metrics(), HasSubstr(in_trouble + ",version=\"v1\"} 1"));
}

TEST_F(OptionalTest, TheEmbeddedServerKeepsThemAndTheyGoWhenTheJobIsHeld) {
  begin("none");
  submit(identity_, "gang");
  EXPECT_THAT(pods(), ElementsAre("gang-worker-0"));
  EXPECT_EQ((*get(kGroups, "gang"))["spec"]["minMember"].as_int(), 1);
  json::Value job = *get(identity_.resource, "gang");
  job["metadata"]["annotations"][plan::kSuspendAnnotation] = "true";
  must(cluster_->update(identity_.resource, std::move(job)));
  loop_.run_for(6s);
  EXPECT_THAT(all(kGroups), IsEmpty());
  EXPECT_THAT(pods(), IsEmpty());
}

}  // namespace
}  // namespace muster::controller
