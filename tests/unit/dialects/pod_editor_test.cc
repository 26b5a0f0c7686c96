#include "dialects/template/pod_editor.h"

#include <gtest/gtest.h>

#include "support.h"

namespace muster::dialects::test {
namespace {

PodEditor editor() {
  return PodEditor(parse(R"(
metadata: {name: not-ours, uid: u, labels: {team: a, rank: "9"}, annotations: {keep: "1"}}
spec:
  futureField: 7
  initContainers: [{name: fetch}]
  containers:
  - {name: main, env: [{name: A, value: x}], ports: [{name: web, containerPort: 80}]}
  - {name: sidecar}
)"));
}

TEST(PodEditor, WhatTheUserWroteStays) {
  PodEditor pod = editor();
  pod.set_label("job", {std::string("j")});
  pod.set_annotation("more", "2");
  pod.add_port(0, "web", 81);
  pod.add_port(0, "rpc", 82);
  EXPECT_EQ(pod.take_pod(), parse(R"(
metadata: {labels: {team: a, rank: "9", job: j}, annotations: {keep: "1", more: "2"}}
spec:
  futureField: 7
  initContainers: [{name: fetch}]
  containers:
  - name: main
    env: [{name: A, value: x}]
    ports: [{name: web, containerPort: 80}, {name: rpc, containerPort: 82}]
  - {name: sidecar}
)"));
  EXPECT_TRUE(pod.take_values().empty());
}

TEST(PodEditor, VariablesAreAppendedAndLateOnesRemembered) {
  PodEditor pod = editor();
  EnvEditor env = pod.env(0);
  EXPECT_TRUE(env.has("A"));
  EXPECT_FALSE(env.has("RANK"));
  env.set("A", "other");
  env.set("RANK", plan::Ordinal{.base = 1});
  env.set("WHERE", plan::Value{std::string("tcp://"), plan::ServiceIp{"s"}, std::string(":1")});
  env.set_from_field("IP", "status.podIP");
  const auto values = pod.take_values();
  const auto made = pod.take_pod();
  EXPECT_EQ(made["spec"]["containers"][0]["env"], parse(R"(
- {name: A, value: x}
- {name: A, value: other}
- {name: RANK, value: ""}
- {name: WHERE, value: ""}
- {name: IP, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: status.podIP}}}
)"));
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[0].path,
            (plan::JsonPath{"spec", "containers", std::size_t{0}, "env", std::size_t{2}, "value"}));
  EXPECT_EQ(values[0].value, (plan::Value{plan::Ordinal{.base = 1}}));
  EXPECT_EQ(values[1].value.size(), 3U);
}

TEST(PodEditor, ALateLabelReplacesTheUsers) {
  PodEditor pod = editor();
  pod.set_label("rank", {plan::Ordinal{}});
  const auto values = pod.take_values();
  ASSERT_EQ(values.size(), 1U);
  EXPECT_EQ(values[0].path, (plan::JsonPath{"metadata", "labels", "rank"}));
  EXPECT_EQ(pod.take_pod()["metadata"]["labels"], parse("{team: a}"));
}

TEST(PodEditor, EveryContainerMeansNoInitContainer) {
  PodEditor pod = editor();
  pod.every_container([](EnvEditor& env) { env.set("B", "z"); });
  const auto made = pod.take_pod();
  EXPECT_EQ(made["spec"]["containers"][1]["env"], parse("[{name: B, value: z}]"));
  EXPECT_EQ(made["spec"]["initContainers"][0], parse("{name: fetch}"));
}

TEST(PodEditor, VolumesAreMountedInAllThatIsThere) {
  PodEditor pod = editor();
  pod.add_volume("cache", "emptyDir", json::Object{});
  pod.mount_everywhere({.volume = "cache", .path = "/cache", .read_only = true});
  pod.mount(1, {.volume = "cache", .path = "/own"});
  pod.add_first_init_container(parse("{name: before}"));
  pod.add_last_init_container(parse("{name: after}"));
  const auto made = pod.take_pod();
  EXPECT_EQ(made["spec"]["volumes"], parse("[{name: cache, emptyDir: {}}]"));
  EXPECT_EQ(made["spec"]["initContainers"], parse(R"(
- {name: before}
- {name: fetch, volumeMounts: [{name: cache, mountPath: /cache, readOnly: true}]}
- {name: after}
)"));
  EXPECT_EQ(made["spec"]["containers"][0]["volumeMounts"],
            parse("[{name: cache, mountPath: /cache, readOnly: true}]"));
  EXPECT_EQ(made["spec"]["containers"][1]["volumeMounts"], parse(R"(
- {name: cache, mountPath: /cache, readOnly: true}
- {name: cache, mountPath: /own}
)"));
}

TEST(PodEditor, CommandsAreWrappedOrReplaced) {
  PodEditor pod(parse(R"(
spec:
  containers:
  - {name: a, command: [train], args: [--fast]}
  - {name: b, args: [serve]}
)"));
  pod.prefix_command(0, {"wrapper", "--"});
  pod.set_command(1, {"idle"});
  EXPECT_EQ(pod.pod()["spec"]["containers"], parse(R"(
- {name: a, command: [wrapper, --, train], args: [--fast]}
- {name: b, command: [idle]}
)"));
}

}  // namespace
}  // namespace muster::dialects::test
