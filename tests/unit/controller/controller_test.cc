#include "controller/controller.h"

#include "fixture.h"

namespace muster::controller {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ControllerTest : public InMemory {
 protected:
  ControllerTest() {
    scope_.spawn(controller_->run());
    loop_.run_for(1s);
  }
  ~ControllerTest() override { loop_.run(scope_.close()); }

  json::Value bad_job() {
    json::Value job = small_job("train");
    job["spec"]["msReplicaSpecs"]["Worker"]["replicas"] = -3;
    return job;
  }
  void submit(json::Value job) {
    must(cluster_->create(jobs(), std::move(job)));
    loop_.run_for(10s);
  }
  void edit(const char* field, json::Value value) {
    json::Value job = *get(jobs(), "train");
    job["spec"]["msReplicaSpecs"]["Worker"][field] = std::move(value);
    must(cluster_->update(jobs(), std::move(job)));
    loop_.run_for(10s);
  }
  void run_pod(const std::string& name) {
    json::Value pod = *get(api::pods(), name);
    pod["status"]["phase"] = "Running";
    must(cluster_->update_status(api::pods(), std::move(pod)));
    loop_.run_for(10s);
  }
  std::vector<std::string> warnings() {
    std::vector<std::string> messages;
    for (const auto& event : all(api::events())) {
      if ((*event)["type"].as_string() == "Warning")
        messages.push_back((*event)["message"].as_string());
    }
    return messages;
  }
  // The newest version of the store: it stays where it is while nobody writes anything.
  std::string version() { return must(cluster_->list(jobs(), {})).resource_version; }

  std::unique_ptr<Controller> controller_ = std::make_unique<Controller>(
      loop_, *cluster_, registry_, rng_, Logger(), Controller::Options{});
  rt::TaskScope scope_{loop_};
};

TEST_F(ControllerTest, AStoredBadObjectFailsForGood) {
  submit(bad_job());
  const auto job = get(jobs(), "train");
  EXPECT_TRUE(api::condition_is_true(*job, "Failed"));
  EXPECT_THAT(api::condition_of(*job, "Failed")["message"].as_string(),
              HasSubstr("spec.msReplicaSpecs.Worker.replicas"));
  EXPECT_THAT(all(api::pods()), IsEmpty());
}

TEST_F(ControllerTest, AStoredBadObjectHasOneWarning) {
  submit(bad_job());
  ASSERT_THAT(warnings(), SizeIs(1));
  EXPECT_THAT(warnings()[0], HasSubstr("replicas"));
}

TEST_F(ControllerTest, AStoredBadObjectIsNoHotLoop) {
  submit(bad_job());
  const std::string before = version();
  loop_.run_for(10min);
  EXPECT_EQ(version(), before);
}

TEST_F(ControllerTest, AnotherControllerSaysNoMoreAboutIt) {
  submit(bad_job());
  loop_.run(scope_.close());
  const std::string before = version();
  Controller second(loop_, *cluster_, registry_, rng_, Logger(), {});
  rt::TaskScope scope(loop_);
  scope.spawn(second.run());
  loop_.run_for(10min);
  loop_.run(scope.close());
  EXPECT_EQ(version(), before);
}

TEST_F(ControllerTest, MendingABadObjectDoesNotBringItBack) {
  submit(bad_job());
  edit("replicas", 1);
  EXPECT_TRUE(api::condition_is_true(*get(jobs(), "train"), "Failed"));
  EXPECT_THAT(all(api::pods()), IsEmpty());
}

TEST_F(ControllerTest, ABadEditFreezesARunningJob) {
  submit(small_job("train"));
  run_pod("train-worker-0");
  const auto pod = get(api::pods(), "train-worker-0");
  edit("replicas", -3);
  const auto job = get(jobs(), "train");
  EXPECT_TRUE(api::condition_is_true(*job, "Running"));
  EXPECT_EQ((*job)["status"]["muster"]["observedGeneration"].as_int(), 1);
  EXPECT_EQ(*get(api::pods(), "train-worker-0"), *pod);
  EXPECT_THAT(warnings(), SizeIs(1));
  const std::string before = version();
  loop_.run_for(10min);
  EXPECT_EQ(version(), before) << "a frozen job is quiet";
}

TEST_F(ControllerTest, AGoodEditThawsIt) {
  submit(small_job("train"));
  run_pod("train-worker-0");
  edit("replicas", -3);
  edit("replicas", 2);
  EXPECT_EQ((*get(jobs(), "train"))["status"]["muster"]["observedGeneration"].as_int(), 3);
  EXPECT_THAT(all(api::pods()), SizeIs(2));
}

TEST_F(ControllerTest, TheDeadlineHoldsWhileItIsFrozen) {
  json::Value limited = small_job("train");
  limited["spec"]["runPolicy"]["activeDeadlineSeconds"] = 60;
  submit(limited);
  run_pod("train-worker-0");
  edit("replicas", -3);
  loop_.run_for(1min);
  EXPECT_TRUE(api::condition_is_true(*get(jobs(), "train"), "Failed"));
}

TEST_F(ControllerTest, StopsAlsoInTheMiddleOfItsWork) {
  for (int i = 0; i < 50; ++i)
    must(cluster_->create(jobs(), small_job("job-" + std::to_string(i))));
  loop_.run(scope_.close());
  EXPECT_EQ(scope_.running(), 0U);
}

TEST_F(ControllerTest, WritesNothingWithoutTheLead) {
  loop_.run(scope_.close());
  Controller follower(loop_, *cluster_, registry_, rng_, Logger(),
                      {.may_write = [] { return false; }});
  rt::TaskScope scope(loop_);
  scope.spawn(follower.run());
  submit(small_job("train"));
  loop_.run(scope.close());
  EXPECT_THAT(all(api::pods()), IsEmpty());
  EXPECT_TRUE((*get(jobs(), "train"))["status"]["conditions"].as_array().empty());
}

}  // namespace
}  // namespace muster::controller
