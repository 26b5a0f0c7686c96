// ChainerJob: what differs from its own operator, by the number of docs/kinds/chainerjob.md, and
// how slots, sets and keys are read.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/object.h"
#include "chainer_support.h"
#include "dialects/mpi/setup.h"
#include "dialects/registry.h"
#include "json/write.h"

namespace muster::dialects::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const plan::Object* find_object(const plan::Plan& plan, std::string_view name) {
  const auto found = std::ranges::find_if(
      plan.objects, [&](const plan::Object& object) { return object.id.name == name; });
  return found == plan.objects.end() ? nullptr : &*found;
}

std::string assets(const plan::Plan& plan, std::string_view key) {
  return find_object(plan, "j-assets")->body["data"][key].as_string();
}

std::vector<std::string> role_names(const plan::Plan& plan) {
  std::vector<std::string> names;
  for (const plan::Role& role : plan.roles) names.push_back(role.name);
  return names;
}

const json::Value& main_of(const plan::Role& role) {
  return *api::find_named(role.pod["spec"]["containers"], "chainer");
}

const json::Value& container(const plan::Role& role, std::string_view name) {
  return *api::find_named(role.pod["spec"]["initContainers"], name);
}

const json::Value& host_file_writer(const plan::Plan& plan) {
  return container(plan.roles[0], "chainer-operator-hostfile-generator");
}

std::string message_of(const json::Value& job) {
  const auto plan = dialect_of(job).compile(job);
  return plan ? "it compiles" : plan.error().message;
}

TEST(ChainerQuirks, CH1_DefaultsAreNotWrittenIntoTheSpec) {
  json::Value job = parse(R"(
apiVersion: kubeflow.org/v1alpha1
kind: ChainerJob
metadata: {name: j, namespace: team, uid: u}
spec: {master: {template: {spec: {containers: [{image: "example.org/mn:1"}]}}}}
)");
  const json::Value written = job;
  dialect_of(job).set_defaults(job);
  EXPECT_EQ(job, written);
  EXPECT_EQ(main_of(chainer_plan(job).roles[0])["name"], "chainer") << "the plan has them";
}

TEST(ChainerQuirks, CH3_TheHostFileHasEveryWorkerThatShouldBe) {
  const plan::Plan plan = chainer_plan(chainer("b: 2, a: 1"));
  EXPECT_EQ(assets(plan, "hostfile"),
            "j-workerset-a-0 slots=1\nj-workerset-b-0 slots=1\nj-workerset-b-1 slots=1\n");
  EXPECT_TRUE(find_object(plan, "j-assets")->values.empty()) << "it waits for no pod";
}

TEST(ChainerQuirks, CH4_NoToolIsFetchedAndNoImageOfOthersIsPulled) {
  const plan::Plan plan = chainer_plan(chainer("a: 1"));
  for (const plan::Role& role : plan.roles) {
    for (const std::string_view list : {"initContainers", "containers"}) {
      for (const json::Value& each : role.pod["spec"][list].as_array()) {
        EXPECT_THAT((std::vector<std::string>{"example.org/mn:1", Settings{}.agent_image}),
                    Contains(each["image"].as_string()));
      }
    }
    EXPECT_THAT(json::write(role.pod), Not(HasSubstr("kubectl")));
  }
  EXPECT_THAT(assets(plan, "download_kubectl.sh"), IsEmpty());
}

TEST(ChainerQuirks, CH5_TheNameOfTheRemoteShellIsKept) {
  const plan::Plan plan = chainer_plan(chainer("a: 1"));
  const json::Value* variable =
      api::find_named(main_of(plan.roles[0])["env"], "OMPI_MCA_plm_rsh_agent");
  ASSERT_NE(variable, nullptr);
  EXPECT_EQ((*variable)["value"], "/kubeflow/chainer-operator/assets/kubexeb.sh");
}

TEST(ChainerQuirks, CH6_TheMasterWaitsForAllHostsWithoutALimitOfTries) {
  const json::Value writer = host_file_writer(chainer_plan(chainer("a: 1")));
  EXPECT_EQ(writer["args"], parse(R"(
- hosts
- --from
- /kubeflow/chainer-operator/assets/hostfile
- --to
- /kubeflow/chainer-operator/generated/hostfile
- --append
- $(POD_NAME) slots=1
)"));
}

TEST(ChainerQuirks, CH7_TheRemoteShellPassesItsArgumentsWhole) {
  EXPECT_EQ(assets(chainer_plan(chainer("a: 1")), "kubexeb.sh"),
            "#!/bin/sh\nexec /muster/bin/muster-agent rsh \"$@\"\n");
}

TEST(ChainerQuirks, CH8_WorkersHaveNamesThatLeadToThem) {
  const plan::Plan plan = chainer_plan(chainer("a: 2"));
  const plan::Object* service = find_object(plan, "j-mpi");
  ASSERT_NE(service, nullptr);
  EXPECT_EQ(service->body["spec"]["clusterIP"], "None");
  EXPECT_EQ(service->body["spec"]["publishNotReadyAddresses"], true);
  const json::Value& labels = plan.roles[1].pod["metadata"]["labels"];
  for (const auto& [key, value] : service->body["spec"]["selector"].as_object()) {
    EXPECT_EQ(labels[key], value) << key;
  }
  EXPECT_EQ(plan.roles[1].pod["spec"]["subdomain"], "j-mpi");
  EXPECT_EQ(placed_at(plan.roles[1], {"spec", "hostname"}),
            (plan::Value{std::string("j-workerset-a-"), plan::Ordinal{}}));
}

TEST(ChainerQuirks, CH9_SetsWithoutAnyWorkerAreRefusedAndNoRightsAreGiven) {
  EXPECT_THAT(message_of(chainer("a: 0, b: 0")), HasSubstr("spec.workerSets: have no worker"));
  for (const plan::Object& object : chainer_plan(chainer("a: 1, b: 0")).objects) {
    EXPECT_THAT((std::vector<std::string>{"secrets", "services", "configmaps"}),
                Contains(object.id.resource.plural));
  }
}

TEST(ChainerQuirks, CH10_WorkersAreAlwaysStartedAgain) {
  json::Value job = chainer("a: 1");
  json::Value& spec = job["spec"]["workerSets"]["a"]["template"]["spec"];
  spec["restartPolicy"] = "Never";
  EXPECT_THAT(message_of(job), HasSubstr("workers are started again until the master ends"));
  spec["restartPolicy"] = "Always";
  EXPECT_EQ(chainer_plan(job).roles[1].pod["spec"]["restartPolicy"], "Always");
}

TEST(ChainerQuirks, CH12_TheMasterIsLastInTheHostFile) {
  const plan::Plan plan = chainer_plan(chainer("a: 1", "mpiConfig: {slots: 3}"));
  EXPECT_THAT(assets(plan, "hostfile"), Not(HasSubstr("master")));
  EXPECT_EQ(host_file_writer(plan)["args"].as_array().back(), "$(POD_NAME) slots=3");
}

TEST(ChainerQuirks, CH13_SpecWorkerIsTheSetWorker) {
  json::Value job = chainer("worker: 2");
  json::Value alias = job;
  alias["spec"]["worker"] = alias["spec"]["workerSets"]["worker"];
  alias["spec"].object().erase("workerSets");
  const plan::Plan plan = chainer_plan(alias);
  EXPECT_THAT(role_names(plan), ElementsAre("master", "workerset-worker"));
  EXPECT_EQ(plan.roles[1].pod, chainer_plan(job).roles[1].pod);
  EXPECT_EQ(assets(plan, "hostfile"), assets(chainer_plan(job), "hostfile"));
}

TEST(ChainerPlan, ANullNameCountsAsNone) {
  json::Value job = chainer();
  job["spec"]["master"]["template"]["spec"]["containers"].array()[0]["name"] = "";
  EXPECT_EQ(chainer_plan(job).roles[0].main_container, "chainer");
}

struct SlotCase {
  std::string role;  // fields of a set
  int slots;
};

TEST(ChainerPlan, SlotsAreWrittenOrThoseOfTheGpuLimit) {
  const std::vector<SlotCase> cases = {
      {"{}", 1},
      {"{mpiConfig: {slots: 4}}", 4},
      {"{mpiConfig: {}, gpu: {limits: {nvidia.com/gpu: 2}}}", 2},
      {"{gpu: {limits: {nvidia.com/gpu: '3'}}}", 3},
      {"{gpu: {requests: {nvidia.com/gpu: 2}}}", 1},
      {"{gpu: {limits: {nvidia.com/gpu: 0}}}", 1},
      {"{mpiConfig: {slots: 1}, gpu: {limits: {nvidia.com/gpu: 8}}}", 1},
  };
  for (const SlotCase& c : cases) {
    SCOPED_TRACE(c.role);
    json::Value job = chainer("a: 1");
    const json::Value role = parse(c.role);
    json::Value& set = job["spec"]["workerSets"]["a"];
    if (role["mpiConfig"].is_object()) set["mpiConfig"] = role["mpiConfig"];
    if (role["gpu"].is_object())
      set["template"]["spec"]["containers"].array()[0]["resources"] = role["gpu"];
    EXPECT_EQ(assets(chainer_plan(job), "hostfile"),
              "j-workerset-a-0 slots=" + std::to_string(c.slots) + "\n");
  }
}

TEST(ChainerPlan, BackendMeansNothingToAMasterThatTrainsAlone) {
  json::Value job = chainer();
  job["spec"]["backend"] = "nccl";
  EXPECT_THAT(role_names(chainer_plan(job)), ElementsAre("master"));
}

TEST(ChainerPlan, TheServiceAccountIsTheUsers) {
  json::Value job = chainer("a: 1");
  job["spec"]["master"]["template"]["spec"]["serviceAccountName"] = "trainer";
  EXPECT_EQ(chainer_plan(job).roles[0].pod["spec"]["serviceAccountName"], "trainer");
  EXPECT_TRUE(chainer_plan(job).roles[1].pod["spec"]["serviceAccountName"].is_null());
}

TEST(ChainerPlan, TheAgentImageIsThatOfTheSettings) {
  const plan::Registry other = make_registry({.agent_image = "example.org/agent:9"});
  const json::Value job = chainer("a: 1");
  const auto plan = other.find("kubeflow.org/v1alpha1", "ChainerJob")->compile(job);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(container(plan->roles[1], "muster-agent")["image"], "example.org/agent:9");
  EXPECT_EQ(host_file_writer(*plan)["image"], "example.org/agent:9");
}

TEST(ChainerPlan, UnknownFieldsAreKeptAndTold) {
  json::Value job = chainer("a: 1");
  job["spec"]["workerSets"]["a"]["replica"] = 3;
  const plan::Plan plan = chainer_plan(job);
  ASSERT_EQ(plan.warnings.size(), 1U);
  EXPECT_EQ(plan.warnings[0].reason, "UnknownField");
  EXPECT_THAT(plan.warnings[0].message, HasSubstr("spec.workerSets.a.replica"));
}

TEST(ChainerPlan, LongNamesOfMastersAreCut) {
  json::Value job = chainer();
  job["metadata"]["name"] = std::string(60, 'm');
  const std::string pod = chainer_plan(job).roles[0].pod_name.salted_name({});
  EXPECT_EQ(pod.size(), 63U);
}

}  // namespace
}  // namespace muster::dialects::test
