#include "controller/controller.h"

#include "fixture.h"
#include "json/write.h"
#include "simulation/forwarding_cluster.h"

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

TEST_F(ControllerTest, ALargeJobIsNotLookedAtForEveryPod) {
  constexpr int kRanks = 100;
  json::Value large = small_job("train");
  large["spec"]["msReplicaSpecs"]["Worker"]["replicas"] = kRanks;
  submit(large);
  const std::uint64_t before = controller_->looks();
  for (const auto& pod : all(api::pods())) {
    json::Value running = *pod;
    running["status"]["phase"] = "Running";
    must(cluster_->update_status(api::pods(), std::move(running)));
    loop_.run_for(1ms);
  }
  // 100 ms at 2.5 ms a look, and what the status costs.
  EXPECT_LE(controller_->looks() - before, 45U);
  loop_.run_for(10s);
  EXPECT_EQ((*get(jobs(), "train"))["status"]["replicaStatuses"]["Worker"]["active"].as_int(),
            kRanks);
}

// Creates of one pod are answered late; everything else at once.
class Slow final : public simulation::ForwardingCluster {
 public:
  Slow(rt::Loop& loop, cluster::Cluster& inner, std::string pod, Duration delay)
      : ForwardingCluster(inner), loop_(loop), pod_(std::move(pod)), delay_(delay) {}
  Task<Result<api::ObjectPtr>> create(const api::Resource& resource, json::Value object) override {
    const bool late = resource == api::pods() && api::name_of(object) == pod_;
    auto created = co_await inner_.create(resource, std::move(object));
    if (late) CO_TRY(co_await rt::sleep_for(loop_, delay_));
    co_return created;
  }

 private:
  rt::Loop& loop_;
  std::string pod_;
  Duration delay_;
};

class SlowServer : public InMemory {
 protected:
  // A controller that has seen its server keep a ledger, and hangs in the wave of job "slow".
  SlowServer() {
    scope_.spawn(controller_.run());
    create("first");
    loop_.run_for(2s);
    create("slow");
    loop_.run_for(100ms);
  }
  ~SlowServer() override { loop_.run(scope_.close()); }

  void create(const std::string& name) { must(cluster_->create(jobs(), small_job(name))); }
  bool is_stored(const std::string& name) {
    return (*get(jobs(), name))["status"]["muster"].is_object();
  }
  bool has_pod(const std::string& name) {
    return loop_.run(cluster_->get(api::pods(), {.ns = "default", .name = name + "-worker-0"}))
        .has_value();
  }

  Slow slow_{loop_, *cluster_, "slow-worker-0", 30s};
  Controller controller_{loop_, slow_, registry_, rng_, Logger(), Controller::Options{}};
  rt::TaskScope scope_{loop_};
};

TEST_F(SlowServer, AStatusGivesWayToOtherJobsPodsButNotForEver) {
  create("other");
  loop_.run_for(4s);
  EXPECT_TRUE(has_pod("other"));
  EXPECT_FALSE(is_stored("other"));
  const Time created =
      *parse_time(get(jobs(), "other")->at_path("metadata.creationTimestamp").as_string());
  loop_.run_for(3s);
  EXPECT_TRUE(is_stored("other"));
  const auto started = parse_time((*get(jobs(), "other"))["status"]["startTime"].as_string());
  EXPECT_LE(*started - created, 1s) << "the start is when it was seen, not when it was stored";
}

TEST_F(SlowServer, AnEndDoesNotWait) {
  create("other");
  loop_.run_for(1s);
  json::Value pod = *get(api::pods(), "other-worker-0");
  pod["status"]["phase"] = "Succeeded";
  must(cluster_->update_status(api::pods(), std::move(pod)));
  loop_.run_for(100ms);
  EXPECT_TRUE(api::condition_is_true(*get(jobs(), "other"), "Succeeded"));
  EXPECT_TRUE(api::condition_is_true(*get(jobs(), "other"), "Created"));
}

TEST_F(SlowServer, ABadEditBeforeTheFirstStatusFreezesWhatWasMade) {
  create("other");
  loop_.run_for(1s);
  json::Value job = *get(jobs(), "other");
  job["spec"]["msReplicaSpecs"]["Worker"]["replicas"] = -3;
  must(cluster_->update(jobs(), std::move(job)));
  loop_.run_for(60s);
  EXPECT_FALSE(api::condition_is_true(*get(jobs(), "other"), "Failed"));
  EXPECT_TRUE(has_pod("other"));
}

// A CRD without our part of the schema.
class Forgetful final : public simulation::ForwardingCluster {
 public:
  using ForwardingCluster::ForwardingCluster;
  Task<Result<api::ObjectPtr>> update_status(const api::Resource& resource,
                                             json::Value object) override {
    object["status"].object().erase("muster");
    return inner_.update_status(resource, std::move(object));
  }
};

TEST_F(InMemory, NothingIsMadeWhereTheServerDropsTheLedger) {
  Forgetful forgetful(*cluster_);
  Controller controller(loop_, forgetful, registry_, rng_, Logger(), {});
  rt::TaskScope scope(loop_);
  scope.spawn(controller.run());
  must(cluster_->create(jobs(), small_job("train")));
  loop_.run_for(1min);
  loop_.run(scope.close());
  EXPECT_THAT(all(api::pods()), IsEmpty());
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

TEST_F(ControllerTest, ANodeThatDoesNotAnswerIsNamedUntilItsPodIsGone) {
  submit(small_job("train"));
  const std::string uid = api::uid_of(*get(api::pods(), "train-worker-0"));
  ASSERT_TRUE(loop_.run(cluster_->bind({.ns = "default", .name = "train-worker-0"}, uid, "gpu-7")));
  run_pod("train-worker-0");
  must(cluster_->remove(api::pods(), {.ns = "default", .name = "train-worker-0"},
                        {.grace_seconds = 5}));
  const auto blocked = [&] { return (*get(jobs(), "train"))["status"]["muster"]["blockedOnNode"]; };
  loop_.run_for(30s);
  EXPECT_TRUE(blocked().is_null());
  loop_.run_for(10s);
  EXPECT_EQ(json::write(blocked()[std::size_t{0}]["ranks"]), R"({"Worker":"0"})");
  EXPECT_EQ(blocked()[std::size_t{0}]["node"].as_string(), "gpu-7");
  ASSERT_THAT(warnings(), SizeIs(1));
  EXPECT_THAT(warnings()[0], HasSubstr("Node gpu-7 has not answered"));
  const std::string before = version();
  loop_.run_for(10min);
  EXPECT_EQ(version(), before) << "nothing is written while nothing changes";
  EXPECT_THAT(all(api::pods()), SizeIs(1));
  must(cluster_->remove(api::pods(), {.ns = "default", .name = "train-worker-0"},
                        {.grace_seconds = 0}));
  loop_.run_for(10s);
  EXPECT_TRUE(blocked().is_null());
  EXPECT_TRUE(get(api::pods(), "train-worker-0"));
}

// As the pod collector does it: both writes may have happened before anybody looks.
TEST_F(ControllerTest, APodThatIsTakenAwayAtOnceIsCountedAllTheSame) {
  json::Value job = small_job("train");
  job["spec"]["msReplicaSpecs"]["Worker"]["restartPolicy"] = "OnFailure";
  submit(job);
  run_pod("train-worker-0");
  json::Value taken = *get(api::pods(), "train-worker-0");
  taken["status"]["phase"] = "Failed";
  taken["status"]["conditions"] = json::Array{json::Object{
      {"type", "DisruptionTarget"}, {"status", "True"}, {"reason", "DeletionByPodGC"}}};
  must(cluster_->update_status(api::pods(), taken));
  must(cluster_->remove(api::pods(), {.ns = "default", .name = "train-worker-0"},
                        {.grace_seconds = 0}));
  loop_.run_for(10s);
  const json::Value status = (*get(jobs(), "train"))["status"]["muster"];
  EXPECT_EQ(status["restartCount"].as_int(), 1);
  EXPECT_EQ(status["cause"]["reason"].as_string(), "DeletionByPodGC");
  EXPECT_NE(api::uid_of(*get(api::pods(), "train-worker-0")), api::uid_of(taken));
}

}  // namespace
}  // namespace muster::controller
