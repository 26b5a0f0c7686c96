#include "cli/plane/unfinished.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/object.h"
#include "rt/sim_loop.h"
#include "server/embedded.h"
#include "toy_kind.h"

// What keeps a temporary control plane: everything that would stand still without one.
namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Unfinished : public ::testing::Test {
 protected:
  void SetUp() override {
    auto kind = std::make_unique<ToyKind>("ToyJob", "toys.dev");
    toy_ = kind.get();
    registry_.add(std::move(kind));
    auto made = loop_.run(server::EmbeddedServer::create(
        {.loop = loop_, .rng = rng_, .registry = registry_, .home = ""}));
    ASSERT_TRUE(made) << made.error().message;
    server_ = std::move(*made);
  }
  void TearDown() override { loop_.run(server_->close()); }

  server::Core& core() { return server_->core(); }
  std::vector<std::string> names() { return unfinished(core(), registry_); }
  const server::Kind& kind(const api::Resource& resource) { return *core().kinds().find(resource); }

  void job(const std::string& name, const std::string& state, json::Value annotations = {}) {
    const server::Kind& jobs = kind(toy_->identity().resource);
    json::Value object = toy_->job(name);
    if (!annotations.is_null()) object["metadata"]["annotations"] = std::move(annotations);
    auto made = loop_.run(core().create(jobs, std::move(object)));
    ASSERT_TRUE(made) << made.error().message;
    json::Value changed = **made;
    changed["status"] = json::Object{{"state", state}};
    ASSERT_TRUE(loop_.run(core().update_status(jobs, std::move(changed))));
  }
  // Of the job of that name, or of nobody.
  void pod(const std::string& name, const std::string& phase, const std::string& job = "",
           json::Object metadata = {}) {
    if (!job.empty()) metadata.set("ownerReferences", json::Array{controller(job)});
    const json::Value container =
        json::Object{{"name", "main"}, {"image", "x"}, {"command", json::Array{"true"}}};
    metadata.set("name", name);
    metadata.set("namespace", "default");
    auto made = loop_.run(core().create(
        kind(api::pods()),
        json::Object{{"metadata", std::move(metadata)},
                     {"spec", json::Object{{"containers", json::Array{container}}}}}));
    ASSERT_TRUE(made) << made.error().message;
    json::Value changed = **made;
    changed["status"]["phase"] = phase;
    ASSERT_TRUE(loop_.run(core().update_status(kind(api::pods()), std::move(changed))));
  }

  json::Value controller(const std::string& job) {
    const auto found = core().get(kind(toy_->identity().resource), {.ns = "default", .name = job});
    EXPECT_TRUE(found);
    return api::OwnerReference{.api_version = api::api_version_of(**found),
                               .kind = api::kind_of(**found),
                               .name = job,
                               .uid = api::uid_of(**found),
                               .controller = true}
        .to_json();
  }

  rt::SimLoop loop_{Time(std::chrono::hours(500'000))};
  SeededRng rng_{1};
  plan::Registry registry_;
  const ToyKind* toy_ = nullptr;
  std::unique_ptr<server::EmbeddedServer> server_;
};

TEST_F(Unfinished, NothingInANewHome) {
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(Unfinished, JobsThatHaveNotEnded) {
  job("done", "DONE");
  job("broken", "BROKEN");
  job("going", "GOING");
  job("new", "");
  EXPECT_THAT(names(), ElementsAre("default/going", "default/new"));
}

TEST_F(Unfinished, AJobThatIsHeldUntilItIsResumed) {
  const std::string key = "muster.dev/suspend";
  job("held", "HELD", json::Object{{key, "true"}});
  // Its status says so still, but it was asked to go on.
  job("resumed", "HELD", json::Object{{key, "false"}});
  EXPECT_THAT(names(), ElementsAre("default/resumed"));
}

TEST_F(Unfinished, PodsByThemselves) {
  pod("over", "Succeeded");
  pod("failed", "Failed");
  pod("running", "Running");
  EXPECT_THAT(names(), ElementsAre("default/running"));
}

TEST_F(Unfinished, APodThatIsOnItsWayOut) {
  pod("leaving", "Succeeded", "", {{"finalizers", json::Array{"toys.dev/hold"}}});
  EXPECT_THAT(names(), IsEmpty());
  ASSERT_TRUE(
      loop_.run(core().remove(kind(api::pods()), {.ns = "default", .name = "leaving"}, {})));
  EXPECT_THAT(names(), ElementsAre("default/leaving")) << "somebody has to clear up after it";
}

TEST_F(Unfinished, AJobThatHasEndedIsNamedOnceAsLongAsPodsOfItAreLeft) {
  job("over", "DONE");
  pod("over-0", "Running", "over");
  pod("over-1", "Running", "over");
  pod("over-2", "Succeeded", "over");
  EXPECT_THAT(names(), ElementsAre("default/over"));
}

TEST_F(Unfinished, AJobThatGoesOnIsNamedOnceWithItsPods) {
  job("going", "GOING");
  pod("going-0", "Running", "going");
  pod("alone", "Running");
  EXPECT_THAT(names(), ElementsAre("default/going", "default/alone"));
}

}  // namespace
}  // namespace muster::cli
