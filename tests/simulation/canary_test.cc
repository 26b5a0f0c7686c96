#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/object.h"
#include "campaign.h"
#include "checker.h"
#include "cluster/local/local_cluster.h"
#include "dialects/registry.h"
#include "rt/sim_loop.h"
#include "server/embedded.h"
#include "workload.h"

namespace muster::simulation {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// A dead harness finds nothing. Here each check is shown something that it must not let pass.
class Canary : public ::testing::Test {
 protected:
  Canary() : loop_(Time{}), rng_(1), registry_(dialects::make_registry()) {
    auto made = loop_.run(server::EmbeddedServer::create(
        {.loop = loop_, .rng = rng_, .registry = registry_, .home = ""}));
    server_ = std::move(*made);
    cluster_ = std::make_unique<cluster::LocalCluster>(server_->core());
    checker_ = std::make_unique<Checker>(loop_, server_->core(), std::set{jobs()}, history_);
  }
  ~Canary() override { loop_.run(server_->close()); }

  const api::Resource& jobs() { return registry_.all().front()->identity().resource; }
  const std::vector<std::string>& broken() { return checker_->violations(); }

  // A stored job whose status is this.
  json::Value stored_job(json::Value status) {
    auto job = loop_.run(cluster_->create(jobs(), three_ranks()));
    json::Value changed = **job;
    changed["status"] = std::move(status);
    return **loop_.run(cluster_->update_status(jobs(), changed));
  }
  json::Value child_of(const json::Value& job) {
    json::Value pod = job["spec"]["msReplicaSpecs"]["Worker"]["template"];
    pod["metadata"] = json::Object{
        {"name", "train-worker-0"},
        {"namespace", kNamespace},
        {"labels", json::Object{{"muster.dev/role", "Worker"}, {"muster.dev/index", "0"}}}};
    const api::OwnerReference owner{.api_version = api::api_version_of(job),
                                    .kind = api::kind_of(job),
                                    .name = api::name_of(job),
                                    .uid = api::uid_of(job),
                                    .controller = true};
    pod["metadata"]["ownerReferences"] = json::Array{owner.to_json()};
    return pod;
  }
  static json::Value ended(const char* type, const char* at) {
    return json::Object{
        {"conditions", json::Array{json::Object{
                           {"type", type}, {"status", "True"}, {"lastTransitionTime", at}}}}};
  }
  void write_status(const json::Value& old, json::Value status) {
    json::Value now = old;
    now["status"] = std::move(status);
    const Request request{.verb = Request::Verb::UpdateStatus,
                          .resource = jobs(),
                          .key = api::key_of(old),
                          .body = now,
                          .uid = api::uid_of(old),
                          .resource_version = api::resource_version_of(old)};
    checker_->before(request);
    checker_->after(request, now);
  }

  rt::SimLoop loop_;
  SeededRng rng_;
  plan::Registry registry_;
  History history_{loop_};
  std::unique_ptr<server::EmbeddedServer> server_;
  std::unique_ptr<cluster::LocalCluster> cluster_;
  std::unique_ptr<Checker> checker_;
};

const Process kFirst{.job_uid = "j", .rank = "Worker/0", .pod_uid = "a"};

TEST_F(Canary, TwoProcessesOfARankAreSeen) {
  checker_->started(kFirst);
  EXPECT_THAT(broken(), IsEmpty());
  checker_->started({.job_uid = "j", .rank = "Worker/0", .attempt = 1, .pod_uid = "b"});
  EXPECT_THAT(broken(), ElementsAre(StartsWith("S1")));
}

TEST_F(Canary, ProcessesOfTwoEpochsAreSeen) {
  checker_->started(kFirst);
  checker_->started({.job_uid = "other", .rank = "Worker/1", .epoch = 1, .pod_uid = "b"});
  EXPECT_THAT(broken(), IsEmpty());
  checker_->started({.job_uid = "j", .rank = "Worker/1", .epoch = 1, .pod_uid = "c"});
  EXPECT_THAT(broken(), ElementsAre(StartsWith("S2")));
}

TEST_F(Canary, ASecondStartOfTheSameTryIsSeen) {
  checker_->started(kFirst);
  checker_->ended(kFirst, Checker::End::Retryable);
  checker_->started(kFirst);
  EXPECT_THAT(broken(), ElementsAre(StartsWith("S3")));
}

TEST_F(Canary, RanksWithDifferentKeysAreSeen) {
  checker_->was_given(kFirst, "a");
  checker_->was_given({.job_uid = "other", .rank = "Worker/0", .pod_uid = "b"}, "b");
  EXPECT_THAT(broken(), IsEmpty());
  checker_->was_given({.job_uid = "j", .rank = "Worker/1", .pod_uid = "c"}, "b");
  EXPECT_THAT(broken(), ElementsAre(StartsWith("S11")));
}

TEST_F(Canary, ACreationAfterTheEndIsSeen) {
  const json::Value pod = child_of(stored_job(ended("Succeeded", "2026-01-01T00:00:00Z")));
  checker_->before({.verb = Request::Verb::Create,
                    .resource = api::pods(),
                    .key = api::key_of(pod),
                    .body = pod});
  EXPECT_THAT(broken(), ElementsAre(StartsWith("S4")));
}

TEST_F(Canary, AnotherEndIsSeen) {
  const json::Value job = stored_job(ended("Failed", "2026-01-01T00:00:00Z"));
  write_status(job, ended("Failed", "2026-01-01T00:00:00Z"));
  EXPECT_THAT(broken(), IsEmpty());
  write_status(job, ended("Failed", "2026-01-01T00:00:01Z"));
  write_status(job, ended("Succeeded", "2026-01-01T00:00:00Z"));
  write_status(job, json::Object{});
  EXPECT_THAT(broken(), ElementsAre(StartsWith("S4"), StartsWith("S4"), StartsWith("S4")));
}

TEST_F(Canary, ACounterThatFallsOrRunsAheadIsSeen) {
  const json::Value job = stored_job(json::Object{{"muster", json::Object{{"restartCount", 2}}}});
  write_status(job, json::Object{{"muster", json::Object{{"restartCount", 1}}}});
  write_status(
      job, json::Object{
               {"muster",
                json::Object{{"restartCount", 2},
                             {"attempts", json::Object{{"Worker", json::Object{{"1", "0"}}}}}}}});
  EXPECT_THAT(broken(), ElementsAre(StartsWith("S5"), StartsWith("S5")));
}

TEST_F(Canary, ADeletionWithoutAReasonIsSeen) {
  const json::Value job = stored_job(json::Object{{"muster", json::Object{{"phase", "Running"}}}});
  const auto pod = loop_.run(cluster_->create(api::pods(), child_of(job)));
  ASSERT_TRUE(pod.has_value());
  checker_->before({.verb = Request::Verb::Remove,
                    .resource = api::pods(),
                    .key = api::key_of(**pod),
                    .uid = api::uid_of(**pod)});
  EXPECT_THAT(broken(), ElementsAre(StartsWith("S6")));
}

TEST_F(Canary, AForeignObjectIsSeen) {
  json::Value pod = child_of(stored_job(json::Object{}));
  pod["metadata"].object().erase("ownerReferences");
  const auto other = loop_.run(cluster_->create(api::pods(), pod));
  checker_->before({.verb = Request::Verb::Remove,
                    .resource = api::pods(),
                    .key = api::key_of(pod),
                    .uid = api::uid_of(**other)});
  EXPECT_THAT(broken(), ElementsAre(StartsWith("S7")));
}

TEST_F(Canary, AStatusThatIsNotTrueIsSeen) {
  json::Value job = stored_job(json::Object{});
  job["status"]["muster"] = json::Object{
      {"phase", "Running"}, {"observedGeneration", api::generation_of(job)}, {"ranks", "0/3"}};
  checker_->at_rest(job, {});
  EXPECT_THAT(broken(), IsEmpty());
  job["status"]["muster"]["ranks"] = "1/3";
  job["metadata"]["generation"] = api::generation_of(job) + 1;
  checker_->at_rest(job, {});
  EXPECT_THAT(broken(), ElementsAre(StartsWith("S12"), StartsWith("S12")));
}

TEST_F(Canary, AnotherEndStateIsSeen) {
  const Workload& story = workload("success");
  const RunResult reference = simulate(story, {});
  RunResult other = reference;
  const std::vector<Fault> crash = {{.kind = Fault::Kind::CrashAfter, .at = 1}};
  EXPECT_THAT(judge(story, reference, other, crash), IsEmpty());
  other.end_state += "one more";
  other.created.emplace_back("one more");
  other.converged += std::chrono::hours(1);
  other.relists = 4;
  EXPECT_THAT(judge(story, reference, other, crash),
              ElementsAre(StartsWith("O1"), StartsWith("O1"), StartsWith("L1"), StartsWith("L1")));
}

}  // namespace
}  // namespace muster::simulation
