// MSJob of 2020: what its prototype did wrong and this does right, and what is decided where its
// documentation is silent. Its children are in tests/cases/msjob_2020.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/read.h"
#include "support.h"

namespace muster::dialects::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const plan::Dialect& msjob_2020() {
  return *registry().find("kubeflow.org/v1", "MSJob");
}

json::Value entry(const char* role, int replicas) {
  auto out = parse("template: {spec: {containers: [{name: mindspore, image: example.org/ms:1}]}}");
  out["replicaType"] = role;
  out["replicas"] = replicas;
  return out;
}

// A MASTER and so many WORKERs; `more` are further members of spec.
json::Value manifest(int workers, std::string_view more = "{}") {
  auto job =
      parse("{apiVersion: kubeflow.org/v1, kind: MSJob, metadata: {name: j, namespace: team}}");
  job["spec"] = parse(more);
  job["spec"]["replicaSpecs"] = json::Array{entry("MASTER", 1), entry("WORKER", workers)};
  return job;
}

plan::Plan compiled(const json::Value& job) {
  auto plan = msjob_2020().compile(job);
  if (plan) return *plan;
  ADD_FAILURE() << plan.error().message;
  return {};
}

std::string variable(const plan::Role& role, std::string_view name) {
  return env_of(role, name)["value"].as_string();
}

struct Nowhere final : plan::Addresses {
  [[nodiscard]] std::optional<std::string> of(const plan::ServiceIp&) const override { return {}; }
  [[nodiscard]] std::optional<std::string> of(const plan::PodIp&) const override { return {}; }
};

// The object as it is for the rank of that index.
json::Value placed(json::Value body, const std::vector<plan::Placed>& values, int index) {
  for (const auto& [path, value] : values) {
    plan::place(body, path, plan::resolve(value, index, Nowhere()).value());
  }
  return body;
}

TEST(MSJob2020, LivesBesideTheLaterMSJobAndSharesNoShortName) {
  EXPECT_EQ(msjob_2020().identity().resource.qualified(), "msjobs.kubeflow.org");
  EXPECT_THAT(msjob_2020().identity().short_names, IsEmpty());
  EXPECT_EQ(msjob_2020().identity().scale_spec_path, "");
  EXPECT_NE(&msjob_2020(), &dialect());
}

TEST(MSJob2020, TheServiceOfEveryRankSelectsItsPodAndNoOther) {
  const auto plan = compiled(manifest(3));
  const auto selects = [](const json::Value& service, const json::Value& pod) {
    for (const auto& [key, value] : service["spec"]["selector"].as_object()) {
      if (!(pod["metadata"]["labels"][key] == value)) return false;
    }
    return true;
  };
  ASSERT_EQ(plan.objects.size(), 2U);
  for (const auto& object : plan.objects) {
    const auto& own = *plan.role(object.each_rank_of);
    for (int rank = 0; rank < own.replicas; ++rank) {
      const auto service = placed(object.body, object.values, rank);
      for (const auto& role : plan.roles) {
        for (int i = 0; i < role.replicas; ++i) {
          const bool same = role.name == own.name && i == rank;
          EXPECT_EQ(selects(service, placed(role.pod, role.values, i)), same)
              << own.name << rank << " " << role.name << i;
        }
      }
    }
  }
}

TEST(MSJob2020, RanksCountFromTheMaster) {
  const auto plan = compiled(manifest(2));
  const auto env = [&](const char* role, int index, std::string_view name) {
    const auto& found = *plan.role(role);
    plan::Role made = found;
    made.pod = placed(found.pod, found.values, index);
    return variable(made, name);
  };
  EXPECT_EQ(env("MASTER", 0, "RANK"), "0");
  EXPECT_EQ(env("WORKER", 1, "RANK"), "2");
  EXPECT_EQ(env("WORKER", 1, "WORLD_SIZE"), "3");
  const auto config = json::read(env("WORKER", 1, "MS_CONFIG"));
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(*config, parse(R"(
cluster: {master: ["j-master-0:23456"], worker: ["j-worker-0:23456", "j-worker-1:23456"]}
task: {type: worker, index: 2}
environment: cloud
)"));
}

TEST(MSJob2020, ThePortIsTheMastersInEveryPod) {
  const auto port_of = [](const json::Value& job) {
    const auto plan = compiled(job);
    EXPECT_EQ(variable(*plan.role("MASTER"), "MASTER_PORT"),
              variable(*plan.role("WORKER"), "MASTER_PORT"));
    return variable(*plan.role("WORKER"), "MASTER_PORT");
  };
  EXPECT_EQ(port_of(manifest(1)), "23456");
  EXPECT_EQ(port_of(manifest(1, "masterPort: '1111'")), "1111");
  EXPECT_EQ(port_of(manifest(1, "masterPort: 1111")), "1111");
  auto both = manifest(1, "masterPort: 1111");
  both["spec"]["replicaSpecs"].array()[0]["masterPort"] = "2222";
  both["spec"]["replicaSpecs"].array()[1]["masterPort"] = 3333;
  EXPECT_EQ(port_of(both), "2222");
}

TEST(MSJob2020, TheBackendIsToldOnlyToWhoAsksForIt) {
  auto job = manifest(0, "backend: nccl");
  EXPECT_TRUE(env_of(*compiled(job).role("MASTER"), "MS_BACKEND").is_null());
  job["metadata"]["annotations"].object().set("muster.dev/expose-backend", "true");
  EXPECT_EQ(variable(*compiled(job).role("MASTER"), "MS_BACKEND"), "nccl");
}

TEST(MSJob2020, TheTemplatesRestartPolicyIsObeyed) {
  const auto with = [](const char* policy) {
    auto job = manifest(1);
    for (auto& role : job["spec"]["replicaSpecs"].array()) {
      role["template"]["spec"]["restartPolicy"] = policy;
    }
    return job;
  };
  for (const auto& role : compiled(manifest(1)).roles) {
    EXPECT_EQ(role.pod["spec"]["restartPolicy"].as_string(), "OnFailure");
    EXPECT_EQ(role.retry.on, plan::Retry::On::Disruption);
  }
  const auto never = compiled(with("Never"));
  for (const auto& role : never.roles) {
    EXPECT_EQ(role.pod["spec"]["restartPolicy"].as_string(), "Never");
    EXPECT_EQ(role.retry.on, plan::Retry::On::Never);
  }
  EXPECT_THAT(never.warnings, IsEmpty());
  const auto causes = msjob_2020().validate(with("Always"));
  ASSERT_EQ(causes.size(), 1U);
  EXPECT_EQ(causes[0].field, "spec.replicaSpecs[0].template.spec.restartPolicy");
}

TEST(MSJob2020, AnInvalidJobHasNoPods) {
  auto job = manifest(1);
  job["spec"]["replicaSpecs"].array().erase(job["spec"]["replicaSpecs"].array().begin());
  EXPECT_FALSE(msjob_2020().compile(job).has_value());
}

TEST(MSJob2020, TheMasterDecidesAndAnyFailureFails) {
  const auto plan = compiled(manifest(2));
  ASSERT_EQ(plan.success.size(), 1U);
  EXPECT_EQ(plan.success[0].role, "MASTER");
  EXPECT_EQ(plan.success[0].quorum, plan::RankSet::Quorum::Index);
  ASSERT_EQ(plan.failure.size(), 2U);
  EXPECT_EQ(plan.failure[1].role, "WORKER");
  EXPECT_EQ(plan.tie, plan::Tie::SuccessWins);
}

TEST(MSJob2020, TheStatusHasConditionsAndTheWordsOfItsTime) {
  using plan::Phase;
  const auto plan = compiled(manifest(1));
  json::Value status;
  std::vector<std::string> words;
  for (const Phase phase : {Phase::Created, Phase::Running, Phase::Restarting, Phase::Suspended,
                            Phase::Running, Phase::Succeeded}) {
    plan::Verdict verdict;
    verdict.phase = phase;
    status = msjob_2020().status(plan, status, verdict, Time{});
    words.push_back(status["phase"].as_string() + "/" + status["state"].as_string());
  }
  EXPECT_THAT(words, ElementsAre("Creating/Unknown", "Running/Running", "Running/Running",
                                 "Creating/Unknown", "Running/Running", "Done/Succeeded"));
  EXPECT_EQ(msjob_2020().phase_of(status).phase, Phase::Succeeded);
  EXPECT_EQ(msjob_2020().phase_of(status).reason, "MSJobSucceeded");
  EXPECT_EQ(status["replicaStatuses"]["WORKER"], parse("{active: 0, succeeded: 0, failed: 0}"));
  plan::Verdict failed;
  failed.phase = Phase::Failed;
  const auto end = msjob_2020().status(plan, {}, failed, Time{});
  EXPECT_EQ(end["phase"].as_string(), "Failed");
  EXPECT_EQ(end["state"].as_string(), "Failed");
}

TEST(MSJob2020, WhereKubeflowsOperatorRanMusterDoes) {
  EXPECT_TRUE(
      msjob_2020().manages(manifest(0, "runPolicy: {managedBy: kubeflow.org/training-operator}")));
  EXPECT_TRUE(msjob_2020().manages(manifest(0, "runPolicy: {managedBy: muster.dev/operator}")));
  EXPECT_FALSE(msjob_2020().manages(manifest(0, "runPolicy: {managedBy: someone.else}")));
}

}  // namespace
}  // namespace muster::dialects::test
