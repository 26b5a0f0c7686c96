// The known quirks of the original operator, each fixed or kept as docs/msjob.md says; the rest of
// them is the engine's and tested there.
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

TEST(MindSpore, MS1_ValidationRefusesInsteadOfLogging) {
  const auto plan = dialect().compile(job("j").workers(1).container("Worker", "image", "").json());
  ASSERT_FALSE(plan.has_value());
  EXPECT_EQ(plan.error().message,
            "MSJob \"j\" is invalid: spec.msReplicaSpecs.Worker.template.spec.containers[0].image: "
            "must not be empty (for example example.org/team/train:1.0)");
}

TEST(MindSpore, MS2_EmptyContainersAreRefused) {
  const auto containers = "spec.msReplicaSpecs.Worker.template.spec.containers";
  EXPECT_TRUE(is_refused(job("j").workers(1).set(containers, json::Array{})));
  EXPECT_TRUE(is_refused(job("j").set("spec.msReplicaSpecs.Worker", json::Object{})));
  EXPECT_TRUE(is_refused(job("j").set("spec.msReplicaSpecs.Worker", nullptr)));
}

TEST(MindSpore, MS3_AnEmptyRoleMapIsRefused) {
  EXPECT_TRUE(is_refused(job("j")));
}

TEST(MindSpore, MS4_ReplicasZeroMeansNoPods) {
  const auto plan = job("j").role("Scheduler", 0).servers(0).workers(2).plan();
  EXPECT_EQ(plan.role("PS")->replicas, 0);
  EXPECT_EQ(plan.role("Scheduler")->replicas, 0);
  EXPECT_EQ(plan.total_replicas(), 2);
  EXPECT_THAT(plan.objects, IsEmpty());
  EXPECT_THAT(env_names(*plan.role("Worker")), IsEmpty());
}

TEST(MindSpore, MS5_NoPodBeforeTheServiceHasAnAddress) {
  const auto plan = job("j").scheduler().servers(1).workers(1).plan();
  for (const auto& role : plan.roles) EXPECT_THAT(role.after, ElementsAre("j-scheduler-0"));
  for (const auto* name : {"PS", "Worker"}) {
    const auto& late = plan.role(name)->late;
    ASSERT_EQ(late.size(), 1U);
    EXPECT_EQ(std::get<plan::ServiceIp>(late[0].value).service, "j-scheduler-0");
  }
  EXPECT_THAT(plan.role("Scheduler")->late, IsEmpty());
}

TEST(MindSpore, MS6_ARetryableExitMakesANewPod) {
  const auto plan =
      job("j").workers(2).set("spec.msReplicaSpecs.Worker.restartPolicy", "ExitCode").plan();
  const auto& worker = *plan.role("Worker");
  EXPECT_EQ(worker.on_failed, plan::OnFailedPod::RecreateIfRetryable);
  EXPECT_EQ(worker.kubelet_restart, plan::KubeletRestart::Never);
  EXPECT_EQ(worker.pod["spec"]["restartPolicy"].as_string(), "Never");
}

TEST(MindSpore, MS7_SuccessWinsByDefaultAndFailureUnderAllWorkers) {
  EXPECT_EQ(job("j").workers(2).plan().tie, plan::Tie::SuccessWins);
  EXPECT_EQ(job("j").workers(2).set("spec.successPolicy", "AllWorkers").plan().tie,
            plan::Tie::FailureWins);
}

TEST(MindSpore, MS8_AJobWithoutWorkersIsRefused) {
  EXPECT_TRUE(is_refused(job("j").scheduler().servers(2)));
  EXPECT_TRUE(is_refused(job("j").scheduler().workers(0)));
}

TEST(MindSpore, MS9_LimitsAreInThePlan) {
  const auto plan = job("j")
                        .workers(1)
                        .set("spec.runPolicy.activeDeadlineSeconds", 60)
                        .set("spec.runPolicy.ttlSecondsAfterFinished", 0)
                        .set("spec.runPolicy.backoffLimit", 3)
                        .plan();
  EXPECT_EQ(plan.limits, (plan::Limits{.deadline_seconds = 60, .ttl_seconds = 0, .backoff = 3}));
  EXPECT_EQ(job("j").workers(1).plan().limits, plan::Limits{});
}

TEST(MindSpore, MS10_ALimitStopsPodsEvenUnderNone) {
  const auto plan = job("j").workers(1).set("spec.runPolicy.cleanPodPolicy", "None").plan();
  EXPECT_EQ(plan.on_end, plan::CleanUp::None);
  EXPECT_EQ(plan.on_limit, plan::CleanUp::Running);
  EXPECT_EQ(job("j").workers(1).set("spec.runPolicy.cleanPodPolicy", "All").plan().on_limit,
            plan::CleanUp::All);
}

TEST(MindSpore, MS11_RecreatedPodsCountAgainstTheBackoffLimit) {
  const auto counts = [](const char* policy) {
    return job("j")
        .workers(1)
        .set("spec.msReplicaSpecs.Worker.restartPolicy", policy)
        .plan()
        .role("Worker")
        ->counts_restarts;
  };
  EXPECT_TRUE(counts("Always"));
  EXPECT_TRUE(counts("OnFailure"));
  EXPECT_TRUE(counts("ExitCode"));
  EXPECT_FALSE(counts("Never"));
}

TEST(MindSpore, MS14_TemplateMetadataIsKept) {
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

TEST(MindSpore, MS15_UnknownPoliciesAreRefused) {
  EXPECT_TRUE(is_refused(job("j").workers(1).set("spec.runPolicy.cleanPodPolicy", "")));
  EXPECT_TRUE(is_refused(job("j").workers(1).set("spec.runPolicy.cleanPodPolicy", "Some")));
  EXPECT_TRUE(is_refused(job("j").workers(1).set("spec.successPolicy", "OneWorker")));
  EXPECT_TRUE(
      is_refused(job("j").workers(1).set("spec.msReplicaSpecs.Worker.restartPolicy", "Some")));
}

TEST(MindSpore, MS18_ThereAreFourRestartPolicies) {
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

TEST(MindSpore, MS19_TheServiceBelongsToTheScheduler) {
  const auto plan = job("j").scheduler().workers(1).plan();
  ASSERT_EQ(plan.objects.size(), 1U);
  EXPECT_EQ(plan.objects[0].role, "Scheduler");
}

}  // namespace
}  // namespace muster::dialects::test
