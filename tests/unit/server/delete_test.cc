#include <limits>

#include "support.h"

namespace muster::server {
namespace {

using DeleteTest = ServerTest;

TEST_F(DeleteTest, PodsThatRunGetTheirGrace) {
  const json::Value made = make(api::pods(), pod("a"));
  EXPECT_TRUE(loop_.run(core().bind({.ns = "default", .name = "a"}, "", "n1")));
  const auto going = remove(api::pods(), "a", {.uid = api::uid_of(made)});
  ASSERT_TRUE(going);
  EXPECT_EQ((**going)["metadata"]["deletionGracePeriodSeconds"].as_int(), 30);
  EXPECT_EQ((**going)["metadata"]["deletionTimestamp"].as_string(),
            format_time(loop_.now() + std::chrono::seconds(30)));
  EXPECT_EQ(api::generation_of(**going), 2);

  const std::string version = api::resource_version_of(**going);
  EXPECT_EQ(api::resource_version_of(**remove(api::pods(), "a")), version)
      << "asking again changes nothing";
  EXPECT_EQ(api::resource_version_of(**remove(api::pods(), "a", {.grace_seconds = 60})), version)
      << "grace cannot grow";
  EXPECT_EQ((**remove(api::pods(), "a", {.grace_seconds = 5}))["metadata"]["deletionTimestamp"]
                .as_string(),
            format_time(loop_.now() + std::chrono::seconds(5)));
  EXPECT_TRUE(remove(api::pods(), "a", {.uid = api::uid_of(made), .grace_seconds = 0}));
  EXPECT_FALSE(exists(api::pods(), "a"));
}

TEST_F(DeleteTest, AGraceLongerThanTimeCanSayIsLong) {
  make(api::pods(), pod("a"));
  EXPECT_TRUE(loop_.run(core().bind({.ns = "default", .name = "a"}, "", "n1")));
  const auto going =
      remove(api::pods(), "a", {.grace_seconds = std::numeric_limits<std::int64_t>::max()});
  ASSERT_TRUE(going);
  const auto ends = api::time_at((**going)["metadata"]["deletionTimestamp"]);
  ASSERT_TRUE(ends.has_value());
  EXPECT_GT(*ends, loop_.now() + std::chrono::years(90));
  const auto sooner = remove(api::pods(), "a", {.grace_seconds = 5});
  ASSERT_TRUE(sooner);
  EXPECT_EQ((**sooner)["metadata"]["deletionTimestamp"].as_string(),
            format_time(loop_.now() + std::chrono::seconds(5)));
}

TEST_F(DeleteTest, PodsThatDoNotRunGoAtOnce) {
  make(api::pods(), pod("unscheduled"));
  EXPECT_TRUE(remove(api::pods(), "unscheduled"));
  EXPECT_FALSE(exists(api::pods(), "unscheduled"));

  make(api::pods(), pod("finished"));
  EXPECT_TRUE(loop_.run(core().bind({.ns = "default", .name = "finished"}, "", "n1")));
  json::Value finished = **get(api::pods(), "finished");
  finished["status"]["phase"] = "Succeeded";
  EXPECT_TRUE(update_status(api::pods(), finished));
  EXPECT_TRUE(remove(api::pods(), "finished"));
  EXPECT_FALSE(exists(api::pods(), "finished"));
}

TEST_F(DeleteTest, PreconditionsAreHeld) {
  const json::Value made = make(api::config_maps(), config_map("a"));
  EXPECT_EQ(remove(api::config_maps(), "a", {.uid = "other"}).error().code, ErrorCode::Conflict);
  EXPECT_EQ(remove(api::config_maps(), "a", {.resource_version = "1"}).error().code,
            ErrorCode::Conflict);
  EXPECT_TRUE(
      remove(api::config_maps(), "a",
             {.uid = api::uid_of(made), .resource_version = api::resource_version_of(made)}));
  EXPECT_EQ(remove(api::config_maps(), "a").error().code, ErrorCode::NotFound);
}

TEST_F(DeleteTest, FinalizersHoldAnObject) {
  json::Value asked = widget("w");
  asked["metadata"]["finalizers"] = json::Array{"test.dev/hold"};
  make(widgets(), asked);
  json::Value going = **remove(widgets(), "w");
  EXPECT_TRUE(api::is_deleting(going));
  EXPECT_TRUE(exists(widgets(), "w"));
  const std::string version = api::resource_version_of(going);
  EXPECT_EQ(api::resource_version_of(**remove(widgets(), "w")), version);

  json::Value more = going;
  more["metadata"]["finalizers"].array().push_back("test.dev/more");
  EXPECT_EQ(update(widgets(), more).error().code, ErrorCode::Invalid);

  const auto all = watch(widgets(), {.resource_version = version});
  going["metadata"]["finalizers"] = json::Array();
  EXPECT_TRUE(update(widgets(), going));
  EXPECT_FALSE(exists(widgets(), "w"));
  EXPECT_EQ(next(*all), "DELETED w");
}

TEST_F(DeleteTest, DependentsFollowTheirOwner) {
  const json::Value job = make(widgets(), widget("job"));
  json::Value child = config_map("child");
  child["metadata"]["ownerReferences"] = json::Array{owner(job)};
  const json::Value made = make(api::config_maps(), child);
  json::Value grandchild = config_map("grandchild");
  grandchild["metadata"]["ownerReferences"] = json::Array{owner(made)};
  make(api::config_maps(), grandchild);
  json::Value stranger = config_map("stranger");
  make(api::config_maps(), stranger);
  settle();
  EXPECT_TRUE(exists(api::config_maps(), "child"));
  EXPECT_TRUE(remove(widgets(), "job"));
  settle();
  EXPECT_FALSE(exists(api::config_maps(), "child"));
  EXPECT_FALSE(exists(api::config_maps(), "grandchild"));
  EXPECT_TRUE(exists(api::config_maps(), "stranger"));
}

TEST_F(DeleteTest, OwnersAreKnownByUid) {
  const json::Value old = make(widgets(), widget("job"));
  EXPECT_TRUE(remove(widgets(), "job"));
  make(widgets(), widget("job"));
  json::Value late = config_map("late");  // decided before its owner went, written after
  late["metadata"]["ownerReferences"] = json::Array{owner(old)};
  make(api::config_maps(), late);
  settle();
  EXPECT_FALSE(exists(api::config_maps(), "late"));

  json::Value foreign = config_map("foreign");
  foreign["metadata"]["ownerReferences"] = json::Array{parse(
      R"({"apiVersion":"apps/v1","kind":"Deployment","name":"d","uid":"00000000-0000-4000-8000-000000000000"})")};
  make(api::config_maps(), foreign);
  settle();
  EXPECT_TRUE(exists(api::config_maps(), "foreign"))
      << "an owner of an unknown kind may exist elsewhere";
}

TEST_F(DeleteTest, ADependentWithAnotherOwnerStays) {
  const json::Value a = make(widgets(), widget("a"));
  const json::Value b = make(widgets(), widget("b"));
  json::Value child = config_map("child");
  json::Value second = owner(b);
  second["controller"] = false;
  child["metadata"]["ownerReferences"] = json::Array{owner(a), second};
  make(api::config_maps(), child);
  EXPECT_TRUE(remove(widgets(), "a"));
  settle();
  EXPECT_TRUE(exists(api::config_maps(), "child"));
  EXPECT_TRUE(remove(widgets(), "b"));
  settle();
  EXPECT_FALSE(exists(api::config_maps(), "child"));
}

TEST_F(DeleteTest, ForegroundWaitsForWhatBlocks) {
  const json::Value job = make(widgets(), widget("job"));
  json::Value child = config_map("child");
  child["metadata"]["ownerReferences"] = json::Array{owner(job, true)};
  child["metadata"]["finalizers"] = json::Array{"test.dev/hold"};
  make(api::config_maps(), child);
  EXPECT_TRUE(remove(widgets(), "job", {.propagation = Propagation::Foreground}));
  settle();
  EXPECT_TRUE(exists(widgets(), "job"));
  json::Value going = **get(api::config_maps(), "child");
  EXPECT_TRUE(api::is_deleting(going));
  going["metadata"]["finalizers"] = json::Array();
  EXPECT_TRUE(update(api::config_maps(), going));
  settle();
  EXPECT_FALSE(exists(api::config_maps(), "child"));
  EXPECT_FALSE(exists(widgets(), "job"));
}

TEST_F(DeleteTest, OrphansStay) {
  const json::Value job = make(widgets(), widget("job"));
  json::Value child = config_map("child");
  child["metadata"]["ownerReferences"] = json::Array{owner(job)};
  make(api::config_maps(), child);
  EXPECT_TRUE(remove(widgets(), "job", {.propagation = Propagation::Orphan}));
  settle();
  EXPECT_FALSE(exists(widgets(), "job"));
  ASSERT_TRUE(exists(api::config_maps(), "child"));
  EXPECT_TRUE(
      (**get(api::config_maps(), "child"))["metadata"]["ownerReferences"].as_array().empty());
}

// It would come back, without what it ran.
TEST_F(DeleteTest, TheNodeThatIsThisMachineStays) {
  make(api::nodes(), parse(R"({"metadata":{"name":"this-machine"}})"));
  make(api::nodes(), parse(R"({"metadata":{"name":"another"}})"));
  const auto refused = remove(api::nodes(), "this-machine");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Forbidden);
  EXPECT_EQ(refused.error().message,
            "node \"this-machine\" is this machine, and stays; to stop everything on it delete the "
            "jobs and pods");
  EXPECT_TRUE(exists(api::nodes(), "this-machine"));
  EXPECT_TRUE(remove(api::nodes(), "another"));
  EXPECT_FALSE(exists(api::nodes(), "another"));
}

TEST_F(DeleteTest, ANamespaceTakesItsContentWithItPodsFirst) {
  make(api::namespaces(), parse(R"({"metadata":{"name":"team"}})"));
  EXPECT_TRUE(exists(api::service_accounts(), "default", "team"));
  json::Value running = pod("a");
  running["metadata"]["namespace"] = "team";
  make(api::pods(), running);
  EXPECT_TRUE(loop_.run(core().bind({.ns = "team", .name = "a"}, "", "n1")));
  json::Value data = config_map("c");
  data["metadata"]["namespace"] = "team";
  make(api::config_maps(), data);

  EXPECT_EQ((**remove(api::namespaces(), "team"))["status"]["phase"].as_string(), "Terminating");
  settle();
  EXPECT_TRUE(api::is_deleting(**get(api::pods(), "a", "team")));
  EXPECT_TRUE(exists(api::config_maps(), "c", "team")) << "waits for the pod";
  data["metadata"]["name"] = "d";
  const auto refused = create(api::config_maps(), data);
  EXPECT_EQ(refused.error().code, ErrorCode::Forbidden);
  EXPECT_EQ(refused.error().causes.at(0).reason, "NamespaceTerminating");

  EXPECT_TRUE(remove(api::pods(), "a", {.grace_seconds = 0}, "team"));
  settle();
  EXPECT_FALSE(exists(api::config_maps(), "c", "team"));
  EXPECT_FALSE(exists(api::service_accounts(), "default", "team"));
  EXPECT_FALSE(exists(api::namespaces(), "team"));
  EXPECT_EQ(remove(api::namespaces(), "default").error().code, ErrorCode::Forbidden);
}

TEST_F(DeleteTest, TheDefaultServiceAccountComesBack) {
  EXPECT_TRUE(remove(api::service_accounts(), "default"));
  settle();
  EXPECT_TRUE(exists(api::service_accounts(), "default"));
}

}  // namespace
}  // namespace muster::server
