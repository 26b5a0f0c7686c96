#include "controller/wave.h"

#include "fixture.h"
#include "simulation/forwarding_cluster.h"

namespace muster::controller {
namespace {

using plan::Note;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A cluster that refuses every create and delete in one way.
class Refusing final : public simulation::ForwardingCluster {
 public:
  Refusing(cluster::Cluster& inner, Error error)
      : ForwardingCluster(inner), error_(std::move(error)) {}
  Task<Result<api::ObjectPtr>> create(const api::Resource&, json::Value) override {
    co_return fail(error_);
  }
  Task<Result<api::ObjectPtr>> remove(const api::Resource&, api::ObjectKey,
                                      cluster::DeleteOptions) override {
    co_return fail(error_);
  }

 private:
  Error error_;
};

// A cluster in which somebody has every name. The embedded one would collect an object without an
// owner at once.
class Taken final : public simulation::ForwardingCluster {
 public:
  Taken(cluster::Cluster& inner, json::Value object)
      : ForwardingCluster(inner), object_(std::make_shared<const json::Value>(std::move(object))) {}
  Task<Result<api::ObjectPtr>> create(const api::Resource&, json::Value) override {
    co_return fail(Error{.code = ErrorCode::AlreadyExists, .message = "it exists"});
  }
  Task<Result<api::ObjectPtr>> get(const api::Resource&, api::ObjectKey) override {
    co_return object_;
  }

 private:
  api::ObjectPtr object_;
};

class AnyAddress final : public plan::Addresses {
 public:
  [[nodiscard]] std::optional<std::string> of(const plan::ServiceIp&) const override {
    return "10.96.0.1";
  }
  [[nodiscard]] std::optional<std::string> of(const plan::PodIp&) const override {
    return "10.0.0.1";
  }
};

class WaveTest : public InMemory {
 protected:
  WaveTest() {
    const auto stored = must(cluster_->create(jobs(), small_job("train")));
    plan_ = *registry_.all().front()->compile(*stored);
  }
  WaveResult run(cluster::Cluster& cluster, std::vector<engine::Action> wave) {
    WaveRunner runner(
        loop_, cluster,
        {.pods = &pods_,
         .objects = [this](const api::Resource&) -> ObjectCache& { return objects_; }},
        rng_, [this] { return leader_; }, WaveRunner::OfOthers::TakenOver);
    return loop_.run(runner.run(plan_, std::move(wave)));
  }
  WaveResult run(std::vector<engine::Action> wave) { return run(*cluster_, std::move(wave)); }
  WaveResult refused(ErrorCode code, const std::string& message, std::vector<engine::Action> wave) {
    Refusing cluster(*cluster_, Error{.code = code, .message = message});
    return run(cluster, std::move(wave));
  }
  engine::Action create(const std::string& name) {
    return engine::CreatePod{.name = name,
                             .role = &plan_.roles.back(),
                             .addresses = std::make_shared<const AnyAddress>()};
  }
  json::Value ownerless_pod(const std::string& name) {
    json::Value body = owned_pod(name, job_.uid);
    body["metadata"].object().erase("ownerReferences");
    return body;
  }
  // A pod that is bound, so that its deletion takes its time.
  api::ObjectPtr bound_pod(json::Value body) {
    const auto pod = must(cluster_->create(api::pods(), std::move(body)));
    const auto bound = loop_.run(cluster_->bind(api::key_of(*pod), api::uid_of(*pod), "node"));
    EXPECT_TRUE(bound.has_value());
    return pod;
  }

  plan::Plan plan_;
  const plan::JobRef& job_ = plan_.job;
  bool leader_ = true;
  PodCache pods_{&engine::PodView::from, [](const std::string&, bool) {}};
  ObjectCache objects_{
      [](const json::Value& o) { return engine::ObjectView::from(api::services(), o); },
      [](const std::string&, bool) {}};
};

TEST_F(WaveTest, WhatWasCreatedIsKnownAtOnce) {
  const WaveResult result = run({create("train-worker-0")});
  EXPECT_THAT(result.refusals, IsEmpty());
  ASSERT_THAT(result.notes, SizeIs(1));
  EXPECT_EQ(result.notes[0].kind, Note::Kind::PodCreated);
  EXPECT_THAT(pods_.of(job_.uid), SizeIs(1));
}

TEST_F(WaveTest, ANameThatOurOwnEarlierTryTookIsDone) {
  must(cluster_->create(api::pods(), owned_pod("train-worker-0", job_.uid)));
  const WaveResult result = run({create("train-worker-0")});
  EXPECT_THAT(result.refusals, IsEmpty());
  EXPECT_FALSE(result.failure.has_value());
  EXPECT_THAT(result.notes, IsEmpty()) << "it was created before";
  EXPECT_THAT(pods_.of(job_.uid), SizeIs(1));
}

TEST_F(WaveTest, OursThatTheWatchNeverShowedIsTriedAgainLater) {
  json::Value pod = owned_pod("train-worker-0", job_.uid);
  pod["metadata"]["labels"][plan::labels::kJobUid] = job_.uid;
  must(cluster_->create(api::pods(), std::move(pod)));
  pods_.begin();
  pods_.commit("1000000");
  const WaveResult result = run({create("train-worker-0")});
  EXPECT_THAT(result.refusals, IsEmpty());
  EXPECT_TRUE(result.failure.has_value());
}

TEST_F(WaveTest, ANameThatBelongsToSomebodyElseIsARefusal) {
  bound_pod(ownerless_pod("train-worker-0"));
  const WaveResult result = run({create("train-worker-0")});
  ASSERT_THAT(result.refusals, SizeIs(1));
  EXPECT_TRUE(result.refusals[0].foreign);
  EXPECT_FALSE(result.refusals[0].terminating);
  EXPECT_THAT(pods_.of(job_.uid), IsEmpty());
}

TEST_F(WaveTest, OneThatIsLeavingIsWaitedFor) {
  const auto pod = bound_pod(ownerless_pod("train-worker-0"));
  must(cluster_->remove(api::pods(), api::key_of(*pod), {}));
  const WaveResult result = run({create("train-worker-0")});
  ASSERT_THAT(result.refusals, SizeIs(1));
  EXPECT_TRUE(result.refusals[0].foreign);
  EXPECT_TRUE(result.refusals[0].terminating);
}

TEST_F(WaveTest, WhatADeletedJobOfThisNameLeftIsWaitedFor) {
  Taken cluster(*cluster_, owned_pod("train-worker-0", "uid of the job before"));
  const WaveResult result = run(cluster, {create("train-worker-0")});
  ASSERT_THAT(result.refusals, SizeIs(1));
  EXPECT_TRUE(result.refusals[0].foreign);
  EXPECT_TRUE(result.refusals[0].terminating) << "garbage collection takes it";
}

TEST_F(WaveTest, WhatAJobOfAnotherNameKindOrGroupHasIsARefusal) {
  for (const auto& [field, value] : {std::pair{"name", "other"}, std::pair{"kind", "Job"},
                                     std::pair{"apiVersion", "kubeflow.org/v1"}}) {
    json::Value pod = owned_pod("train-worker-0", "uid of another");
    pod["metadata"]["ownerReferences"].array()[0][field] = value;
    Taken cluster(*cluster_, std::move(pod));
    const WaveResult result = run(cluster, {create("train-worker-0")});
    ASSERT_THAT(result.refusals, SizeIs(1)) << field;
    EXPECT_TRUE(result.refusals[0].foreign) << field;
    EXPECT_FALSE(result.refusals[0].terminating) << field;
  }
}

TEST_F(WaveTest, TheServersOwnVerdictGoesToTheEngine) {
  for (const ErrorCode code : {ErrorCode::Invalid, ErrorCode::Forbidden, ErrorCode::TooLarge}) {
    const WaveResult result = refused(code, "exceeded quota: pods", {create("train-worker-0")});
    ASSERT_THAT(result.refusals, SizeIs(1));
    EXPECT_EQ(result.refusals[0].error.message, "exceeded quota: pods");
    EXPECT_EQ(result.refusals[0].role, "Worker");
    EXPECT_FALSE(result.failure.has_value());
    ASSERT_THAT(result.notes, SizeIs(1));
    EXPECT_EQ(result.notes[0].kind, Note::Kind::CreateFailed);
  }
}

TEST_F(WaveTest, WhatMayPassIsTriedAgain) {
  for (const ErrorCode code : {ErrorCode::Internal, ErrorCode::TooManyRequests, ErrorCode::Timeout,
                               ErrorCode::Unavailable, ErrorCode::Cancelled}) {
    const WaveResult result = refused(code, "later", {create("train-worker-0")});
    EXPECT_THAT(result.refusals, IsEmpty());
    EXPECT_TRUE(result.failure.has_value()) << to_string(code);
  }
}

TEST_F(WaveTest, ADeletionIsOfTheUidAndLeavesANamesakeAlone) {
  bound_pod(owned_pod("train-worker-0", job_.uid));
  const WaveResult result =
      run({engine::DeletePod{.name = "train-worker-0", .uid = "an-older-one"}});
  EXPECT_TRUE(result.failure.has_value()) << "looked at again, but not at once";
  EXPECT_FALSE(api::is_deleting(*get(api::pods(), "train-worker-0")));
}

TEST_F(WaveTest, APodThatChangedSinceItWasSeenStaysAndIsLookedAt) {
  const auto seen = bound_pod(owned_pod("train-worker-0", job_.uid));
  pods_.learn(*seen);
  const WaveResult result =
      run({engine::DeletePod{.name = "train-worker-0",
                             .uid = api::uid_of(*seen),
                             .resource_version = api::resource_version_of(*seen)}});
  EXPECT_FALSE(result.failure.has_value());
  const auto now = get(api::pods(), "train-worker-0");
  EXPECT_FALSE(api::is_deleting(*now)) << "it was bound after it was seen";
  ASSERT_THAT(pods_.of(job_.uid), SizeIs(1));
  EXPECT_EQ(pods_.of(job_.uid)[0].resource_version, api::resource_version_of(*now));
}

TEST_F(WaveTest, WhatIsGoneAlreadyNeedsNoDeletion) {
  const WaveResult result = run({engine::DeletePod{.name = "train-worker-0", .uid = "u"}});
  EXPECT_FALSE(result.failure.has_value());
  EXPECT_THAT(result.notes, IsEmpty());
}

TEST_F(WaveTest, AJobThatTheServerDoesNotKnowIsInDoubt) {
  plan_.job.uid = "an-older-one";
  EXPECT_TRUE(run({engine::DeleteJob{}}).job_in_doubt);
  EXPECT_NE(get(jobs(), "train"), nullptr);
}

TEST_F(WaveTest, NothingIsSentOnceTheLeadIsLost) {
  leader_ = false;
  run({create("train-worker-0")});
  EXPECT_THAT(all(api::pods()), IsEmpty());
}

TEST_F(WaveTest, MoreThanTenAreToldInOneSentence) {
  std::vector<engine::Action> wave;
  for (int i = 0; i < 11; ++i) wave.push_back(create("train-worker-" + std::to_string(i)));
  const WaveResult result = run(std::move(wave));
  ASSERT_THAT(result.notes, SizeIs(1));
  EXPECT_EQ(result.notes[0].kind, Note::Kind::PodsCreated);
  EXPECT_EQ(result.notes[0].subject, "11");
}

// Counts the creates that are under way at the same time.
class Counting final : public simulation::ForwardingCluster {
 public:
  Counting(rt::Loop& loop, cluster::Cluster& inner) : ForwardingCluster(inner), loop_(loop) {}
  Task<Result<api::ObjectPtr>> create(const api::Resource& resource, json::Value object) override {
    most = std::max(most, ++now_);
    CO_TRY(co_await rt::sleep_for(loop_, 1s));
    --now_;
    co_return co_await inner_.create(resource, std::move(object));
  }
  int most = 0;

 private:
  rt::Loop& loop_;
  int now_ = 0;
};

TEST_F(WaveTest, ALargeWaveIsSentAFewHundredAtATime) {
  Counting counting(loop_, *cluster_);
  std::vector<engine::Action> wave;
  for (int i = 0; i < 600; ++i) wave.push_back(create("train-worker-" + std::to_string(i)));
  run(counting, std::move(wave));
  EXPECT_EQ(counting.most, 256);
  EXPECT_THAT(pods_.of(job_.uid), SizeIs(600));
}

}  // namespace
}  // namespace muster::controller
