// Jobs that another operator of the kind began: objects as it leaves them.
#include "controller/controller.h"

#include "fixture.h"

namespace muster::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kStarted = "1970-02-10T00:00:00Z";  // some hours before the loop's time

json::Value condition(const char* type, const char* reason) {
  return json::Object{{"type", type},       {"status", "True"},
                      {"reason", reason},   {"lastUpdateTime", kStarted},
                      {"message", "of it"}, {"lastTransitionTime", kStarted}};
}

class TakeOverTest : public InMemory {
 protected:
  ~TakeOverTest() override { loop_.run(scope_.close()); }

  void put_status(json::Array conditions) {
    json::Value job = *get(jobs(), "train");
    job["status"] =
        json::Object{{"conditions", std::move(conditions)},
                     {"replicaStatuses", json::Object{{"Worker", json::Object{{"active", 1}}}}},
                     {"startTime", kStarted}};
    must(cluster_->update_status(jobs(), std::move(job)));
  }

  // A job of one Worker that runs.
  void begun_by_another() {
    must(cluster_->create(jobs(), small_job("train")));
    json::Value pod = owned_pod("train-worker-0", api::uid_of(*get(jobs(), "train")));
    for (const auto& [key, value] : std::initializer_list<std::pair<const char*, const char*>>{
             {"operator-name", "msjob-controller"},
             {"job-name", "train"},
             {"replica-type", "worker"},
             {"replica-index", "0"}}) {
      pod["metadata"]["labels"][std::string("training.kubeflow.org/") + key] = value;
    }
    pod["metadata"]["labels"]["group-name"] = "mindspore.gitee.com";
    must(cluster_->create(api::pods(), std::move(pod)));
    set_phase("Running");
    put_status({condition("Created", "MSJobCreated"), condition("Running", "MSJobRunning")});
  }

  void set_phase(const char* phase) {
    json::Value pod = *get(api::pods(), "train-worker-0");
    pod["status"]["phase"] = phase;
    must(cluster_->update_status(api::pods(), std::move(pod)));
  }

  void start(bool take_over) {
    controller_.emplace(loop_, *cluster_, registry_, rng_, Logger(),
                        Controller::Options{.take_over = take_over});
    scope_.spawn(controller_->run());
    loop_.run_for(10s);
  }

  std::vector<std::string> event_reasons() {
    std::vector<std::string> reasons;
    for (const auto& event : all(api::events())) reasons.push_back((*event)["reason"].as_string());
    return reasons;
  }

  std::optional<Controller> controller_;
  rt::TaskScope scope_{loop_};
};

TEST_F(TakeOverTest, AJobOfAnotherOperatorIsLeftAloneAndSaysWhatWouldGoOnWithIt) {
  begun_by_another();
  const auto job = get(jobs(), "train");
  const auto pod = get(api::pods(), "train-worker-0");
  start(false);
  set_phase("Failed");
  loop_.run_for(1min);
  EXPECT_EQ(*get(jobs(), "train"), *job);
  EXPECT_THAT(all(api::pods()), SizeIs(1));
  EXPECT_EQ(api::uid_of(*get(api::pods(), "train-worker-0")), api::uid_of(*pod));
  const auto events = all(api::events());
  ASSERT_THAT(event_reasons(), ElementsAre("AnotherOperator"));
  EXPECT_THAT((*events[0])["message"].as_string(), ::testing::HasSubstr("--take-over"));
}

TEST_F(TakeOverTest, WhatAnotherDidNotBeginIsRun) {
  must(cluster_->create(jobs(), small_job("train")));
  start(false);
  EXPECT_THAT(all(api::pods()), SizeIs(1));
}

TEST_F(TakeOverTest, ATakenJobGoesOnWithItsPodsAndItsStart) {
  begun_by_another();
  const std::string uid = api::uid_of(*get(api::pods(), "train-worker-0"));
  start(true);
  const auto job = get(jobs(), "train");
  EXPECT_EQ((*job)["status"]["startTime"].as_string(), kStarted);
  EXPECT_EQ((*job)["status"]["muster"]["phase"].as_string(), "Running");
  ASSERT_THAT(all(api::pods()), SizeIs(1));
  EXPECT_EQ(api::uid_of(*get(api::pods(), "train-worker-0")), uid);
  set_phase("Succeeded");
  loop_.run_for(10s);
  EXPECT_EQ((*get(jobs(), "train"))["status"]["muster"]["phase"].as_string(), "Succeeded");
  EXPECT_THAT(event_reasons(), ElementsAre("MSJobSucceeded"));
}

TEST_F(TakeOverTest, WhatHasEndedStaysAsItIs) {
  must(cluster_->create(jobs(), small_job("train")));
  put_status({condition("Created", "MSJobCreated"), condition("Failed", "MSJobFailed")});
  const auto job = get(jobs(), "train");
  start(true);
  EXPECT_EQ(*get(jobs(), "train"), *job);
  EXPECT_THAT(all(api::pods()), IsEmpty());
}

}  // namespace
}  // namespace muster::controller
