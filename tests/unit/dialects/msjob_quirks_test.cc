// The known quirks of the original operator, each fixed or kept as docs/kinds/msjob.md says; the
// rest of them is the engine's and tested there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace muster::dialects::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

bool is_refused(const JobBuilder& builder) {
  return !dialect().compile(builder.json()).has_value();
}

TEST(MSJob, MS1_ValidationRefusesInsteadOfLogging) {
  const auto plan = dialect().compile(job("j").workers(1).container("Worker", "image", "").json());
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().message,
            "MSJob \"j\" is invalid: spec.msReplicaSpecs.Worker.template.spec.containers[0].image: "
            "must not be empty (for example example.org/team/train:1.0)");
}

TEST(MSJob, MS2_EmptyContainersAreRefused) {
  const auto containers = "spec.msReplicaSpecs.Worker.template.spec.containers";
  EXPECT_TRUE(is_refused(job("j").workers(1).set(containers, json::Array{})));
  EXPECT_TRUE(is_refused(job("j").set("spec.msReplicaSpecs.Worker", json::Object{})));
  EXPECT_TRUE(is_refused(job("j").set("spec.msReplicaSpecs.Worker", nullptr)));
}

TEST(MSJob, MS3_AnEmptyRoleMapIsRefused) {
  EXPECT_TRUE(is_refused(job("j")));
}

TEST(MSJob, MS4_ReplicasZeroMeansNoPods) {
  const auto plan = job("j").role("Scheduler", 0).servers(0).workers(2).plan();
  EXPECT_EQ(plan.role("PS")->replicas, 0);
  EXPECT_EQ(plan.role("Scheduler")->replicas, 0);
  EXPECT_EQ(plan.total_replicas(), 2);
  EXPECT_THAT(plan.objects, IsEmpty());
  EXPECT_THAT(env_names(*plan.role("Worker")), IsEmpty());
}

TEST(MSJob, MS5_NoPodBeforeTheServiceHasAnAddress) {
  const auto plan = job("j").scheduler().servers(1).workers(1).plan();
  const plan::ObjectId service{.resource = api::services(), .name = "j-scheduler-0"};
  for (const auto& role : plan.roles) EXPECT_THAT(role.after, ElementsAre(service));
  const plan::JsonPath address = {"spec", "containers",   std::size_t{0},
                                  "env",  std::size_t{0}, "value"};
  for (const auto* name : {"PS", "Worker"}) {
    EXPECT_EQ(placed_at(*plan.role(name), address),
              (plan::Value{plan::ServiceIp{"j-scheduler-0"}}));
  }
  EXPECT_THAT(placed_at(*plan.role("Scheduler"), address), IsEmpty());
}

TEST(MSJob, MS6_ARetryableExitMakesANewPod) {
  const auto plan =
      job("j").workers(2).set("spec.msReplicaSpecs.Worker.restartPolicy", "ExitCode").plan();
  const auto& worker = *plan.role("Worker");
  EXPECT_EQ(worker.retry.on, plan::Retry::On::RetryableCode);
  for (const int code : {130, 137, 138, 143}) EXPECT_TRUE(worker.retry.codes.contains(code));
  for (const int code : {1, 2, 126, 127, 128, 139, 255}) {
    EXPECT_FALSE(worker.retry.codes.contains(code));
  }
  EXPECT_FALSE(worker.retry.without_code);
  EXPECT_EQ(worker.pod["spec"]["restartPolicy"].as_string(), "Never");
}

TEST(MSJob, MS7_SuccessWinsByDefaultAndFailureUnderAllWorkers) {
  EXPECT_EQ(job("j").workers(2).plan().tie, plan::Tie::SuccessWins);
  EXPECT_EQ(job("j").workers(2).set("spec.successPolicy", "AllWorkers").plan().tie,
            plan::Tie::FailureWins);
}

TEST(MSJob, MS8_AJobWithoutWorkersIsRefused) {
  EXPECT_TRUE(is_refused(job("j").scheduler().servers(2)));
  EXPECT_TRUE(is_refused(job("j").scheduler().workers(0)));
}

TEST(MSJob, MS9_LimitsAreInThePlan) {
  const auto plan = job("j")
                        .workers(1)
                        .set("spec.runPolicy.activeDeadlineSeconds", 60)
                        .set("spec.runPolicy.ttlSecondsAfterFinished", 0)
                        .set("spec.runPolicy.backoffLimit", 3)
                        .plan();
  EXPECT_EQ(plan.limits, (plan::Limits{.deadline_seconds = 60, .ttl_seconds = 0, .backoff = 3}));
  EXPECT_EQ(job("j").workers(1).plan().limits, plan::Limits{});
}

TEST(MSJob, MS10_ALimitStopsPodsEvenUnderNone) {
  const auto plan = job("j").workers(1).set("spec.runPolicy.cleanPodPolicy", "None").plan();
  const auto& worker = *plan.role("Worker");
  EXPECT_EQ(worker.on_success, plan::CleanUp::None);
  EXPECT_EQ(worker.on_failure, plan::CleanUp::None);
  EXPECT_EQ(worker.on_limit, plan::CleanUp::Running);
  const auto all = job("j").workers(1).set("spec.runPolicy.cleanPodPolicy", "All").plan();
  EXPECT_EQ(all.role("Worker")->on_limit, plan::CleanUp::All);
}

TEST(MSJob, MS11_EachPolicySaysWhatMakesANewPod) {
  const auto on = [](const char* policy) {
    return job("j")
        .workers(1)
        .set("spec.msReplicaSpecs.Worker.restartPolicy", policy)
        .plan()
        .role("Worker")
        ->retry.on;
  };
  EXPECT_EQ(on("Always"), plan::Retry::On::Disruption);
  EXPECT_EQ(on("OnFailure"), plan::Retry::On::Disruption);
  EXPECT_EQ(on("ExitCode"), plan::Retry::On::RetryableCode);
  EXPECT_EQ(on("Never"), plan::Retry::On::Never);
}

TEST(MSJob, MS14_TemplateMetadataIsKept) {
  const auto metadata = parse(R"(
labels: {team: vision}
annotations: {example.org/keep: "yes"}
finalizers: [example.org/hold]
name: not-ours
resourceVersion: "7"
)");
  const auto plan =
      job("j").workers(1).set("spec.msReplicaSpecs.Worker.template.metadata", metadata).plan();
  const auto& kept = plan.role("Worker")->pod["metadata"];
  EXPECT_EQ(kept["labels"]["team"].as_string(), "vision");
  EXPECT_EQ(kept["annotations"]["example.org/keep"].as_string(), "yes");
  EXPECT_EQ(kept["finalizers"][0].as_string(), "example.org/hold");
  EXPECT_FALSE(kept.as_object().contains("name"));
  EXPECT_FALSE(kept.as_object().contains("resourceVersion"));
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST(MSJob, MS15_UnknownPoliciesAreRefused) {
  EXPECT_TRUE(is_refused(job("j").workers(1).set("spec.runPolicy.cleanPodPolicy", "")));
  EXPECT_TRUE(is_refused(job("j").workers(1).set("spec.runPolicy.cleanPodPolicy", "Some")));
  EXPECT_TRUE(is_refused(job("j").workers(1).set("spec.successPolicy", "OneWorker")));
  EXPECT_TRUE(
      is_refused(job("j").workers(1).set("spec.msReplicaSpecs.Worker.restartPolicy", "Some")));
}

TEST(MSJob, MS18_ThereAreFourRestartPolicies) {
  const auto kubelet = [](const char* policy) {
    return job("j")
        .workers(1)
        .set("spec.msReplicaSpecs.Worker.restartPolicy", policy)
        .plan()
        .role("Worker")
        ->pod["spec"]["restartPolicy"]
        .as_string();
  };
  EXPECT_EQ(kubelet("Always"), "Always");
  EXPECT_EQ(kubelet("OnFailure"), "OnFailure");
  EXPECT_EQ(kubelet("Never"), "Never");
  EXPECT_EQ(kubelet("ExitCode"), "Never");
  EXPECT_EQ(kubelet(""), "Never");
}

TEST(MSJob, MS19_TheServiceIsTheSchedulersAndGoesWithThePods) {
  const auto plan = job("j").scheduler().workers(1).plan();
  ASSERT_EQ(plan.objects.size(), 1U);
  EXPECT_EQ(plan.objects[0].id.name, "j-scheduler-0");
  EXPECT_EQ(plan.objects[0].until, plan::Until::Hold);
}

}  // namespace
}  // namespace muster::dialects::test
