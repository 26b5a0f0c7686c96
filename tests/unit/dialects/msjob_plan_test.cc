#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/object.h"
#include "support.h"

namespace muster::dialects::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> reasons(const plan::Plan& plan) {
  std::vector<std::string> out;
  for (const auto& warning : plan.warnings) out.push_back(warning.reason);
  return out;
}

bool is_refused(const JobBuilder& builder) {
  return !dialect().compile(builder.json()).has_value();
}

TEST(MSJob, RoleKeysAreReadInAnyCase) {
  const auto plan = job("j").role("WORKER", 2).role("sCheduler").role("ps").plan();
  ASSERT_EQ(plan.roles.size(), 3U);
  EXPECT_EQ(plan.roles[0].name, "Scheduler");
  EXPECT_EQ(plan.roles[1].name, "PS");
  EXPECT_EQ(plan.roles[2].name, "Worker");
  EXPECT_EQ(plan.roles[2].pod_name.name(1, 0), "j-worker-1");
}

TEST(MSJob, ErrorsUseTheUsersSpellingOfTheRole) {
  const auto causes = dialect().validate(job("j").role("wORKER", -4).json());
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].field, "spec.msReplicaSpecs.wORKER.replicas");
  EXPECT_EQ(causes[0].reason, "FieldValueInvalid");
}

TEST(MSJob, EnvironmentComesAfterTheUsersInTheDocumentedOrder) {
  const auto plan = job("j")
                        .scheduler()
                        .servers(2)
                        .workers(3)
                        .container("Worker", "env", parse("[{name: GLOG_v, value: '1'}]"))
                        .plan();
  const auto& worker = *plan.role("Worker");
  EXPECT_THAT(env_names(worker),
              ElementsAre("GLOG_v", "MS_SCHED_HOST", "MS_NODE_ID", "MS_SCHED_PORT", "MS_SERVER_NUM",
                          "MS_WORKER_NUM", "MS_ROLE"));
  EXPECT_EQ(env_of(worker, "MS_ROLE")["value"].as_string(), "MS_WORKER");
  EXPECT_EQ(env_of(worker, "MS_SERVER_NUM")["value"].as_string(), "2");
  EXPECT_EQ(env_of(worker, "MS_WORKER_NUM")["value"].as_string(), "3");
  EXPECT_EQ(env_of(worker, "MS_SCHED_PORT")["value"].as_string(), "2222");
  EXPECT_EQ(env_of(*plan.role("PS"), "MS_ROLE")["value"].as_string(), "MS_PSERVER");
  EXPECT_EQ(env_of(*plan.role("Scheduler"), "MS_ROLE")["value"].as_string(), "MS_SCHED");
  EXPECT_EQ(env_of(*plan.role("Scheduler"), "MS_SCHED_HOST")
                .at_path("valueFrom.fieldRef.fieldPath")
                .as_string(),
            "status.podIP");
  EXPECT_EQ(env_of(worker, "MS_NODE_ID").at_path("valueFrom.fieldRef.fieldPath").as_string(),
            "metadata.name");
}

TEST(MSJob, TheServicesAddressGoesToTheInjectedEntry) {
  const auto plan = job("j")
                        .scheduler()
                        .workers(1)
                        .container("Worker", "env", parse("[{name: A, value: x}]"))
                        .plan();
  const plan::JsonPath expected = {"spec", "containers",   std::size_t{0},
                                   "env",  std::size_t{1}, "value"};
  const auto value = placed_at(*plan.role("Worker"), expected);
  EXPECT_EQ(value, (plan::Value{plan::ServiceIp{"j-scheduler-0"}}));
}

TEST(MSJob, AUsersNodeIdStaysAndOtherDuplicatesLose) {
  const auto plan =
      job("j")
          .scheduler()
          .workers(1)
          .container("Worker", "env",
                     parse("[{name: MS_NODE_ID, value: '7'}, {name: MS_ROLE, value: MS_SCHED}]"))
          .plan();
  const auto& worker = *plan.role("Worker");
  EXPECT_EQ(env_of(worker, "MS_NODE_ID")["value"].as_string(), "7");
  EXPECT_EQ(env_of(worker, "MS_ROLE")["value"].as_string(), "MS_WORKER");
  EXPECT_THAT(env_names(worker),
              ElementsAre("MS_NODE_ID", "MS_ROLE", "MS_SCHED_HOST", "MS_SCHED_PORT",
                          "MS_SERVER_NUM", "MS_WORKER_NUM", "MS_ROLE"));
}

TEST(MSJob, OnlyTheContainerNamedMindsporeIsTouched) {
  auto builder = job("j").scheduler().workers(1);
  const auto sidecar = parse("{name: sidecar, image: example.org/s:1, env: [{name: A, value: b}]}");
  const auto main = parse("{name: mindspore, image: example.org/ms:1}");
  builder.set("spec.msReplicaSpecs.Worker.template.spec.containers", json::Array{sidecar, main});
  builder.set("spec.msReplicaSpecs.Worker.template.spec.initContainers",
              parse("[{name: fetch, image: example.org/f:1}]"));
  const auto plan = builder.plan();
  const auto& spec = plan.role("Worker")->pod["spec"];
  EXPECT_EQ(spec["containers"][0], sidecar);
  EXPECT_EQ(spec["initContainers"][0], parse("{name: fetch, image: example.org/f:1}"));
  const plan::JsonPath address = {"spec", "containers",   std::size_t{1},
                                  "env",  std::size_t{0}, "value"};
  EXPECT_FALSE(placed_at(*plan.role("Worker"), address).empty());
}

TEST(MSJob, FieldsWeDoNotKnowSurviveInTemplates) {
  const auto plan = job("j")
                        .workers(1)
                        .set("spec.msReplicaSpecs.Worker.template.spec.fieldOfTheFuture", 7)
                        .plan();
  EXPECT_EQ(plan.role("Worker")->pod["spec"]["fieldOfTheFuture"], json::Value(7));
  EXPECT_THAT(plan.warnings, IsEmpty());
}

TEST(MSJob, UnknownFieldsOutsideOfTemplatesAreAWarning) {
  const auto plan = job("j").workers(1).set("spec.runPolicy.cleanPodPolcy", "None").plan();
  ASSERT_EQ(plan.warnings.size(), 1U);
  EXPECT_EQ(plan.warnings[0].reason, "UnknownField");
  EXPECT_EQ(plan.warnings[0].message,
            "spec.runPolicy.cleanPodPolcy: unknown field, ignored; did you mean cleanPodPolicy?");
}

TEST(MSJob, ATemplatesRestartPolicyIsReplacedWithAWarning) {
  const auto path = "spec.msReplicaSpecs.Worker.template.spec.restartPolicy";
  const auto plan = job("j").workers(1).set(path, "Always").plan();
  EXPECT_EQ(plan.role("Worker")->pod["spec"]["restartPolicy"].as_string(), "Never");
  EXPECT_THAT(reasons(plan), ElementsAre("SettedPodTemplateRestartPolicy"));
  EXPECT_THAT(job("j").workers(1).set(path, "Never").plan().warnings, IsEmpty());
}

TEST(MSJob, OurLabelsReplaceTheTemplatesWithAWarning) {
  const auto labels =
      parse("{job-name: other, muster.dev/role: Boss, replica-index: '9', team: a}");
  const auto plan =
      job("j").workers(1).set("spec.msReplicaSpecs.Worker.template.metadata.labels", labels).plan();
  EXPECT_EQ(plan.role("Worker")->pod["metadata"]["labels"], parse(R"(
team: a
training.kubeflow.org/operator-name: msjob-controller
group-name: mindspore.gitee.com
training.kubeflow.org/job-name: j
job-name: j
training.kubeflow.org/replica-type: worker
replica-type: worker
)"));
  EXPECT_THAT(reasons(plan), ElementsAre("ReservedLabel", "ReservedLabel", "ReservedLabel"));
  for (const auto* label : {"training.kubeflow.org/replica-index", "replica-index"}) {
    EXPECT_EQ(placed_at(*plan.role("Worker"), {"metadata", "labels", label}),
              (plan::Value{plan::Ordinal{}}));
  }
}

TEST(MSJob, ManyWorkersWithoutASchedulerAreAllowedWithAWarning) {
  EXPECT_THAT(reasons(job("j").workers(2).plan()), ElementsAre("NoScheduler"));
  EXPECT_THAT(reasons(job("j").workers(1).servers(1).plan()), ElementsAre("NoScheduler"));
  EXPECT_THAT(job("j").workers(1).plan().warnings, IsEmpty());
  EXPECT_THAT(job("j").scheduler().workers(2).plan().warnings, IsEmpty());
}

TEST(MSJob, TheServiceHasAPortForEachPortOfTheScheduler) {
  const auto ports = parse(R"(
- {name: msjob-port, containerPort: 8118}
- {containerPort: 9000}
- {name: metrics, containerPort: 9100, protocol: UDP}
- {name: again, containerPort: 9000}
)");
  const auto plan = job("j").scheduler().workers(1).container("Scheduler", "ports", ports).plan();
  EXPECT_EQ(plan.objects.at(0).body["spec"]["ports"], parse(R"(
- {name: msjob-port, port: 8118}
- {name: port-9000, port: 9000}
- {name: metrics, port: 9100, protocol: UDP}
)"));
  EXPECT_EQ(env_of(*plan.role("Worker"), "MS_SCHED_PORT")["value"].as_string(), "8118");
}

TEST(MSJob, TheSubmittersEnvironmentReachesThePods) {
  auto builder = job("j").scheduler().workers(1);
  json::Object annotations{{std::string(plan::kEnvironmentAnnotation), "{\"PATH\":\"/bin\"}"},
                           {"other", "x"}};
  builder.set("metadata.annotations", annotations);
  for (const auto& role : builder.plan().roles) {
    EXPECT_EQ(role.pod["metadata"]["annotations"],
              json::Value(json::Object{
                  {std::string(plan::kEnvironmentAnnotation), "{\"PATH\":\"/bin\"}"}}));
  }
}

TEST(MSJob, DynamicWorkersFailTheJobOnlyWhenNoneIsLeft) {
  for (const auto* policy : {"", "AllWorkers"}) {
    const auto plan = job("j")
                          .scheduler()
                          .workers(3)
                          .set("spec.enableDynamicWorker", true)
                          .set("spec.successPolicy", policy)
                          .plan();
    ASSERT_EQ(plan.failure.size(), 2U);
    EXPECT_EQ(plan.failure[0].role, "Scheduler");
    EXPECT_EQ(plan.failure[1].role, "Worker");
    EXPECT_EQ(plan.failure[1].quorum, plan::RankSet::Quorum::All);
    EXPECT_EQ(plan.failure[1].outcome, plan::RankSet::Outcome::Finished);
    // "All finished" holds when all succeeded, too.
    EXPECT_EQ(plan.tie, plan::Tie::SuccessWins);
  }
}

TEST(MSJob, AGangIsTheWholeJobUnlessSaidOtherwise) {
  EXPECT_EQ(job("j").scheduler().servers(2).workers(4).plan().gang->minimum, 7);
  const auto plan =
      job("j")
          .workers(4)
          .set("spec.runPolicy.schedulingPolicy",
               parse("{minAvailable: 2, queue: q, priorityClass: high, minResources: {cpu: 8}}"))
          .plan();
  EXPECT_EQ(plan.gang->minimum, 2);
}

TEST(MSJob, WhatIsNotObeyedIsSaid) {
  const auto plan = job("j")
                        .workers(1)
                        .set("spec.runPolicy.schedulingPolicy",
                             parse("{queue: q, priorityClass: high, minResources: {cpu: 8}}"))
                        .plan();
  EXPECT_THAT(reasons(plan), ElementsAre("NotObeyed", "NotObeyed", "NotObeyed"));
  EXPECT_EQ(plan.warnings[1].message,
            "spec.runPolicy.schedulingPolicy.priorityClass: not obeyed yet; set priorityClassName "
            "in the pod templates");
  EXPECT_THAT(job("j")
                  .workers(1)
                  .set("spec.runPolicy.schedulingPolicy", parse("{queue: '', minResources: {}}"))
                  .plan()
                  .warnings,
              IsEmpty());
}

TEST(MSJob, ASuspendedJobIsHeldUnderAnotherKey) {
  const auto running = job("j").workers(1).set("spec.runPolicy.suspend", false).plan();
  EXPECT_FALSE(running.hold);
  EXPECT_EQ(running.run_key, "");
  const auto held = job("j").workers(1).set("spec.runPolicy.suspend", true).plan();
  EXPECT_TRUE(held.hold);
  EXPECT_EQ(held.run_key, "suspended");
}

TEST(MSJob, AJobThatSomebodyElseManagesIsLeftAlone) {
  const auto managed = [](const char* by) {
    return dialect().manages(job("j").set("spec.runPolicy.managedBy", by).json());
  };
  EXPECT_TRUE(dialect().manages(job("j").json()));
  EXPECT_TRUE(managed(""));
  EXPECT_TRUE(managed("muster.dev/operator"));
  EXPECT_FALSE(managed("kueue.x-k8s.io/multikueue"));
  EXPECT_FALSE(managed("kubeflow.org/training-operator"));
}

TEST(MSJob, TheScaleSubresourceIsThatOfWorkers) {
  EXPECT_EQ(job("j").workers(2).plan().selector,
            "training.kubeflow.org/job-name=j,training.kubeflow.org/replica-type=worker");
  EXPECT_EQ(dialect().identity().scale_spec_path, ".spec.msReplicaSpecs.Worker.replicas");
  EXPECT_EQ(dialect().identity().scale_status_path, ".status.replicaStatuses.Worker.active");
}

TEST(MSJob, NamesThatServicesCannotHaveNeedNoScheduler) {
  EXPECT_TRUE(is_refused(job("1st.run").scheduler().workers(1)));
  EXPECT_FALSE(is_refused(job("1st.run").workers(1)));
}

TEST(MSJob, TheLongestNameIsTheOneWhoseLongestPodNameFits) {
  EXPECT_FALSE(is_refused(job(std::string(51, 'a')).scheduler().workers(1)));
  EXPECT_TRUE(is_refused(job(std::string(52, 'a')).scheduler().workers(1)));
  EXPECT_FALSE(is_refused(job(std::string(53, 'a')).workers(11)));
  EXPECT_TRUE(is_refused(job(std::string(54, 'a')).workers(11)));
}

TEST(MSJob, AGeneratedNameIsCheckedWhenItIsKnown) {
  auto builder = job("").workers(1).set("metadata.generateName", "run-");
  EXPECT_FALSE(is_refused(builder));
}

TEST(MSJob, TheJobIsNamedInThePlan) {
  const auto plan = job("j").workers(1).plan();
  EXPECT_EQ(plan.job.resource.qualified(), "msjobs.mindspore.gitee.com");
  EXPECT_EQ(plan.job.ns, "team");
  EXPECT_EQ(plan.job.uid, "7d7b0f3e-0001");
  EXPECT_EQ(plan.job.generation, 1);
  EXPECT_EQ(plan.running.role, "Worker");
  EXPECT_EQ(plan.running.outcome, plan::RankSet::Outcome::Running);
}

TEST(MSJob, HugeInputsAreRefusedWithABoundedAnswer) {
  auto builder = job("j").workers(1);
  json::Array env;
  for (int i = 0; i < 5000; ++i) env.emplace_back(json::Object{{"name", i}});
  builder.container("Worker", "env", env);
  const auto causes = dialect().validate(builder.json());
  EXPECT_EQ(causes.size(), 100U);
}

}  // namespace
}  // namespace muster::dialects::test
