// PaddleJob: what its operator did wrong and this does right, each by its number, and what is
// decided where its documentation is silent. Its children are in tests/cases/paddlejob. PD-19 is
// about documentation alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/object.h"
#include "paddle_support.h"
#include "support.h"

namespace muster::dialects::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

const json::Value& main_container(const plan::Role& role) {
  return role.pod["spec"]["containers"][0];
}

json::Value variable(const plan::Role& role, std::string_view name) {
  const json::Value* found = api::find_named(main_container(role)["env"], name);
  return found == nullptr ? json::Value() : *found;
}

std::string restart_policy(const plan::Plan& plan, const char* role) {
  return plan.role(role)->pod["spec"]["restartPolicy"].as_string();
}

std::vector<std::string> warnings(const json::Value& job) {
  std::vector<std::string> out;
  for (const auto& warning : paddle_plan(job).warnings) out.push_back(warning.reason);
  return out;
}

std::vector<std::string> refused_at(const json::Value& job) {
  std::vector<std::string> out;
  for (const auto& cause : paddlejob().validate(job)) out.push_back(cause.field);
  return out;
}

TEST(PaddleJob, ThePortFollowsFromTheUidAndStays) {
  const auto job = paddle("worker: 2");
  EXPECT_EQ(config_text(paddle_plan(job), "PADDLE_PORT"), "38275");
  EXPECT_EQ(config_text(paddle_plan(job), "PADDLE_PORT"), "38275");
  auto other = job;
  other["metadata"]["uid"] = "7d7b0f3e-0002";
  EXPECT_EQ(config_text(paddle_plan(other), "PADDLE_PORT"), "46486");
}

TEST(PaddleJob, EveryRoleHasItsNameAndItsList) {
  const auto plan = paddle_plan(paddle("ps: 1, worker: 2, heter: 1"));
  EXPECT_EQ(variable(*plan.role("ps"), "TRAINING_ROLE")["value"].as_string(), "PSERVER");
  EXPECT_EQ(variable(*plan.role("worker"), "TRAINING_ROLE")["value"].as_string(), "TRAINER");
  EXPECT_EQ(variable(*plan.role("heter"), "PADDLE_TRAINING_ROLE")["value"].as_string(), "HETER");
  EXPECT_EQ(config_text(plan, "PADDLE_PSERVERS_IP_PORT_LIST"), "<ps 0>:38275");
  EXPECT_EQ(config_text(plan, "PADDLE_TRAINER_ENDPOINTS"), "<worker 0>:38275,<worker 1>:38275");
  EXPECT_EQ(config_text(plan, "PADDLE_TRAINERS"), "<worker 0>,<worker 1>");
  EXPECT_EQ(config_text(plan, "PADDLE_HETER_ENDPOINTS"), "<heter 0>:38275");
  const auto single = paddle_plan(paddle("worker: 1"));
  EXPECT_EQ(config_text(single, "PADDLE_PSERVERS_IP_PORT_LIST"), "");
  EXPECT_EQ(config_text(single, "PADDLE_WITH_GLOO"), "");
}

TEST(PaddleJob, TheRestartPolicyIsTheTemplatesOrWhatTheModeNeeds) {
  const auto pods = paddle_plan(paddle("ps: 1, worker: 1"));
  EXPECT_EQ(restart_policy(pods, "worker"), "Never");
  const auto services = paddle_plan(paddle("ps: 1, worker: 1", "intranet: Service"));
  EXPECT_EQ(restart_policy(services, "worker"), "OnFailure");
  EXPECT_EQ(restart_policy(services, "ps"), "Never");
  auto written = paddle("ps: 1, worker: 1", "intranet: Service");
  written["spec"]["ps"]["template"]["spec"]["restartPolicy"] = "Always";
  written["spec"]["worker"]["template"]["spec"]["restartPolicy"] = "Never";
  EXPECT_EQ(restart_policy(paddle_plan(written), "ps"), "Always");
  EXPECT_EQ(restart_policy(paddle_plan(written), "worker"), "Never");
  written["spec"]["elastic"] = 1;
  EXPECT_EQ(restart_policy(paddle_plan(written), "ps"), "OnFailure");
  EXPECT_THAT(warnings(written), ElementsAre("RestartPolicyReplaced", "RestartPolicyReplaced"));
  auto for_ever = paddle("worker: 1");
  for_ever["spec"]["worker"]["template"]["spec"]["restartPolicy"] = "Always";
  EXPECT_THAT(warnings(for_ever), ElementsAre("NeverCompletes"));
}

TEST(PaddleJob, WhatTheUserWroteStaysAndOursComesLast) {
  auto job = paddle("worker: 1", "intranet: Service");
  auto& pod = job["spec"]["worker"]["template"];
  pod["metadata"] = parse("{labels: {app: mine, paddle-res-type: x}, annotations: {note: mine}}");
  auto& container = pod["spec"]["containers"].array()[0];
  container["env"] = parse("[{name: PADDLE_TRAINER_ID, value: '9'}]");
  container["envFrom"] = parse("[{secretRef: {name: mine}}]");
  container["ports"] = parse("[{containerPort: 36000}]");
  const auto plan = paddle_plan(job);
  const plan::Role& role = *plan.role("worker");
  EXPECT_EQ(role.pod["metadata"]["labels"]["app"].as_string(), "mine");
  EXPECT_EQ(role.pod["metadata"]["labels"]["paddle-res-type"].as_string(), "worker");
  EXPECT_EQ(role.pod["metadata"]["annotations"]["note"].as_string(), "mine");
  EXPECT_EQ(main_container(role)["env"].as_array().size(), 6U);
  EXPECT_EQ(main_container(role)["env"][0]["value"].as_string(), "9");
  EXPECT_EQ(main_container(role)["envFrom"].as_array().size(), 2U);
  EXPECT_EQ(main_container(role)["ports"].as_array().size(), 1U) << "it declares the port itself";
  EXPECT_THAT(warnings(job), ElementsAre("ReservedLabel"));
}

TEST(PaddleJob, OnlyTheFirstContainerIsTold) {
  auto job = paddle("worker: 1");
  job["spec"]["worker"]["template"]["spec"]["containers"].array().push_back(
      parse("{name: sidecar, image: example.org/sidecar:1}"));
  const auto plan = paddle_plan(job);
  EXPECT_EQ(plan.role("worker")->main_container, "paddle");
  EXPECT_TRUE(plan.role("worker")->pod["spec"]["containers"][1]["env"].is_null());
}

TEST(PaddleJob, CleanPodPolicySaysWhenPodsGo) {
  using plan::CleanUp;
  struct Row {
    const char* policy;
    CleanUp worker_completed;
    CleanUp server_completed;
    CleanUp failed;
  };
  const std::vector<Row> rows = {
      {"", CleanUp::All, CleanUp::All, CleanUp::None},
      {"OnCompletion", CleanUp::All, CleanUp::All, CleanUp::None},
      {"Always", CleanUp::All, CleanUp::All, CleanUp::All},
      {"Never", CleanUp::None, CleanUp::Running, CleanUp::None},
      {"OnFailure", CleanUp::None, CleanUp::Running, CleanUp::All},
  };
  for (const Row& row : rows) {
    auto job = paddle("ps: 1, worker: 1");
    job["spec"]["cleanPodPolicy"] = row.policy;
    const auto plan = paddle_plan(job);
    EXPECT_EQ(plan.role("worker")->on_success, row.worker_completed) << row.policy;
    EXPECT_EQ(plan.role("ps")->on_success, row.server_completed) << row.policy;
    EXPECT_EQ(plan.role("worker")->on_failure, row.failed) << row.policy;
    EXPECT_EQ(plan.role("ps")->on_failure, row.failed) << row.policy;
    EXPECT_EQ(plan.objects.back().until, plan::Until::JobGone) << "the ConfigMap stays";
  }
}

TEST(PaddleJob, WorkersDecideAndWithoutThemAllOfThem) {
  EXPECT_EQ(paddle_plan(paddle("ps: 2, worker: 1")).success[0].role, "worker");
  EXPECT_EQ(paddle_plan(paddle("ps: 2, heter: 1")).success[0].role, "");
}

TEST(PaddleJob, WhatEveryRankIsToldIsTheKeyOfTheRun) {
  const auto key = [](std::string_view roles, std::string_view more = "{}") {
    return paddle_plan(paddle(roles, more)).run_key;
  };
  EXPECT_EQ(key("worker: 2"), "worker=2");
  EXPECT_EQ(key("ps: 1, worker: 2", "{intranet: Host, withGloo: 2}"),
            "ps=1,worker=2,intranet=Host,gloo=2");
  EXPECT_EQ(key("worker: 2", "elastic: 1"), key("worker: 4", "elastic: 1"));
}

TEST(PaddleJob, GangsAreOfAllUnlessTheJobSaysOtherwise) {
  EXPECT_EQ(paddle_plan(paddle("ps: 1, worker: 2")).gang->minimum, 3);
  EXPECT_EQ(paddle_plan(paddle("worker: 4", "schedulingPolicy: {minAvailable: 2}")).gang->minimum,
            2);
  EXPECT_FALSE(paddle_plan(paddle("worker: 4", "elastic: 1")).gang.has_value());
}

TEST(PaddleQuirks, PD4_TheGlooEndpointIsAPortOfItsOwn) {
  const auto by_address = paddle_plan(paddle("ps: 2, worker: 1", "withGloo: 1"));
  EXPECT_EQ(config_text(by_address, "PADDLE_GLOO_HTTP_ENDPOINT"), "<ps 0>:38293");
  EXPECT_EQ(config_text(by_address, "PADDLE_PSERVERS_IP_PORT_LIST"), "<ps 0>:38275,<ps 1>:38275");
  const auto by_name = paddle_plan(paddle("ps: 2, worker: 1", "{withGloo: 2, intranet: Service}"));
  EXPECT_EQ(config_text(by_name, "PADDLE_GLOO_HTTP_ENDPOINT"), "j-ps-0:36018");
  EXPECT_EQ(config_text(by_name, "PADDLE_WITH_GLOO"), "2");
  EXPECT_THAT(warnings(paddle("worker: 1", "withGloo: 1")), ElementsAre("NotObeyed"));
}

TEST(PaddleQuirks, PD5_ThePortThatIsToldIsThePortOfTheLists) {
  const auto plan = paddle_plan(paddle("ps: 1, worker: 1", "intranet: Service"));
  EXPECT_EQ(config_text(plan, "PADDLE_PORT"), "36000");
  EXPECT_EQ(config_text(plan, "PADDLE_PSERVERS_IP_PORT_LIST"), "j-ps-0:36000");
}

TEST(PaddleQuirks, PD6_PD16_NoContainerOfOursWaitsForOneRoleWithWrongMemory) {
  const auto plan = paddle_plan(paddle("ps: 1, worker: 1"));
  for (const auto& role : plan.roles) {
    EXPECT_TRUE(role.pod["spec"]["initContainers"].is_null());
    EXPECT_EQ(main_container(role)["envFrom"], parse("[{configMapRef: {name: j}}]"))
        << "which waits for every role";
  }
}

TEST(PaddleQuirks, PD7_NamesAreFoundOnTheHostsNetwork) {
  auto job = paddle("worker: 1", "intranet: Host");
  const auto plan = paddle_plan(job);
  const auto& spec = plan.role("worker")->pod["spec"];
  EXPECT_TRUE(spec["hostNetwork"].as_bool());
  EXPECT_EQ(spec["dnsPolicy"].as_string(), "ClusterFirstWithHostNet");
  job["spec"]["worker"]["template"]["spec"]["dnsPolicy"] = "None";
  EXPECT_EQ(paddle_plan(job).role("worker")->pod["spec"]["dnsPolicy"].as_string(), "None");
}

TEST(PaddleQuirks, PD8_AnyNumberMakesAJobElasticAndZeroIsWarnedOf) {
  const auto job = paddle("worker: 2", "elastic: 0");
  const auto plan = paddle_plan(job);
  EXPECT_EQ(variable(*plan.role("worker"), "PADDLE_ELASTIC_NP")["value"].as_string(), "2");
  EXPECT_TRUE(main_container(*plan.role("worker"))["envFrom"].is_null());
  EXPECT_THAT(warnings(job), ElementsAre("ElasticZero"));
  EXPECT_THAT(warnings(paddle("worker: 2", "elastic: 1")), IsEmpty());
}

TEST(PaddleQuirks, PD9_WhatNeverMeantAnythingIsWarnedOf) {
  auto job = paddle("worker: 2");
  job["spec"]["worker"]["requests"] = 1;
  job["spec"]["worker"]["limits"] = 4;
  EXPECT_THAT(warnings(job), ElementsAre("NotObeyed", "NotObeyed"));
}

TEST(PaddleQuirks, PD11_AJobWithoutRolesIsRefused) {
  EXPECT_THAT(refused_at(paddle("")), ElementsAre("spec"));
}

TEST(PaddleQuirks, PD12_ARoleWithoutReplicasIsNotThere) {
  auto job = paddle("ps: 0, worker: 2");
  job["spec"]["ps"]["template"] = json::Object{};
  const auto plan = paddle_plan(job);
  ASSERT_EQ(plan.roles.size(), 1U);
  EXPECT_EQ(config_text(plan, "PADDLE_PSERVERS_IP_PORT_LIST"), "");
  EXPECT_EQ(plan.run_key, "worker=2");
  EXPECT_THAT(refused_at(paddle("ps: 0, worker: 0")), ElementsAre("spec"));
}

TEST(PaddleQuirks, PD13_WhatCrashedTheOperatorIsRefused) {
  auto empty = paddle("worker: 1");
  empty["spec"]["worker"]["template"] = parse("{spec: {containers: []}}");
  EXPECT_THAT(refused_at(empty), ElementsAre("spec.worker.template.spec.containers"));
  EXPECT_THAT(refused_at(paddle("ps: 1", "elastic: 1")), ElementsAre("spec.elastic"));
  EXPECT_THAT(refused_at(paddle("ps: 1, worker: 0", "elastic: 1")), ElementsAre("spec.elastic"));
}

TEST(PaddleQuirks, PD14_AnUnknownPolicyIsRefused) {
  EXPECT_THAT(refused_at(paddle("worker: 1", "cleanPodPolicy: OnFailed")),
              ElementsAre("spec.cleanPodPolicy"));
  EXPECT_THAT(refused_at(paddle("worker: 1", "intranet: HostNetwork")),
              ElementsAre("spec.intranet"));
}

TEST(PaddleQuirks, PD15_EveryPodHasAServiceInEveryMode) {
  for (const char* mode : {"PodIP", "Service", "Host"}) {
    const auto plan = paddle_plan(paddle("ps: 2, worker: 2", "intranet: " + std::string(mode)));
    ASSERT_EQ(plan.objects.size(), 3U);
    EXPECT_EQ(plan.objects[0].each_rank_of, "ps") << mode;
    EXPECT_EQ(plan.objects[1].each_rank_of, "worker") << mode;
    EXPECT_EQ(plan.objects[1].body["spec"]["ports"].as_array().size(), 20U) << mode;
  }
}

struct OnlyV6 final : plan::Addresses {
  [[nodiscard]] std::optional<std::string> of(const plan::ServiceIp&) const override { return {}; }
  [[nodiscard]] std::optional<std::string> of(const plan::PodIp& pod) const override {
    return "fd00::" + std::to_string(pod.index + 1);
  }
};

TEST(PaddleQuirks, PD17_AddressesOfIPv6StandInBracketsBeforePorts) {
  const auto plan = paddle_plan(paddle("ps: 1, worker: 2", "withGloo: 1"));
  std::map<std::string, std::string> data;
  for (const auto& [path, value] : plan.objects.back().values) {
    data[std::get<std::string>(path.back())] = plan::resolve(value, 0, OnlyV6()).value();
  }
  EXPECT_EQ(data["PADDLE_TRAINER_ENDPOINTS"], "[fd00::1]:38275,[fd00::2]:38275");
  EXPECT_EQ(data["PADDLE_TRAINERS"], "fd00::1,fd00::2");
  EXPECT_EQ(data["PADDLE_PSERVERS_IP_PORT_LIST"], "[fd00::1]:38275");
  EXPECT_EQ(data["PADDLE_GLOO_HTTP_ENDPOINT"], "[fd00::1]:38293");
}

}  // namespace
}  // namespace muster::dialects::test
