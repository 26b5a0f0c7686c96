#include "cli/manifests/edits.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fields_fixture.h"
#include "json/write.h"

namespace muster::cli {
namespace {

using ::testing::HasSubstr;

Manifest manifest(std::string_view text) {
  auto object = parse(text);
  const auto* dialect =
      all_kinds().find(object["apiVersion"].as_string(), object["kind"].as_string());
  return {.source = "job.yaml:1",
          .resource = dialect != nullptr ? dialect->identity().resource : api::pods(),
          .dialect = dialect,
          .object = std::move(object)};
}

constexpr std::string_view kPod =
    "{kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, "
    "env: [{name: X, value: old}]}], initContainers: [{name: i}]}}";

std::string after_set(std::vector<Manifest>& manifests, std::vector<std::string> settings) {
  const auto done = set_fields(settings, manifests);
  return done ? "" : done.error().message;
}

TEST(Set, ValuesAreReadAsYaml) {
  std::vector<Manifest> all{manifest(kJob)};
  EXPECT_EQ(after_set(all, {"spec.msReplicaSpecs.Worker.replicas=8", "spec.runPolicy.suspend=true",
                            "metadata.labels.team=nlp", "metadata.labels.empty=",
                            "spec.msReplicaSpecs.Worker.template.spec.containers[0].args=[a, '1']",
                            "spec.msReplicaSpecs.Worker.template.spec.containers[0].image=null"}),
            "");
  const auto& spec = std::as_const(all[0].object)["spec"];
  EXPECT_EQ(spec["msReplicaSpecs"]["Worker"]["replicas"], json::Value(8));
  EXPECT_EQ(spec["runPolicy"]["suspend"], json::Value(true));
  EXPECT_EQ(std::as_const(all[0].object)["metadata"]["labels"], parse("{team: nlp, empty: ''}"));
  const auto& container = spec["msReplicaSpecs"]["Worker"]["template"]["spec"]["containers"][0];
  EXPECT_EQ(json::write(container), R"({"name":"mindspore","args":["a","1"]})");
  EXPECT_EQ(spec["msReplicaSpecs"]["Scheduler"]["template"]["spec"]["containers"][0]["image"],
            json::Value("a"));
}

TEST(Set, EveryJobThatHasTheFieldAndAnErrorWhenNoneHas) {
  std::vector<Manifest> all{manifest(kJob), manifest(kJob), manifest(kPod)};
  EXPECT_EQ(after_set(all, {"spec.msReplicaSpecs.Worker.replicas=8"}), "");
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ(std::as_const(all[i].object)["spec"]["msReplicaSpecs"]["Worker"]["replicas"],
              json::Value(8));
  }
  EXPECT_TRUE(std::as_const(all[2].object)["spec"]["msReplicaSpecs"].is_null());
  EXPECT_EQ(after_set(all, {"spec.msReplicaSpecs.Worker.replcas=8"}),
            "--set spec.msReplicaSpecs.Worker.replcas=8: MSJob bert (job.yaml:1) has no field "
            "spec.msReplicaSpecs.Worker.replcas, did you mean replicas?");
  EXPECT_EQ(after_set(all, {"spec.msReplicaSpecs.Wroker.replicas=8"}),
            "--set spec.msReplicaSpecs.Wroker.replicas=8: MSJob bert (job.yaml:1) has no field "
            "spec.msReplicaSpecs.Wroker, did you mean Worker?");
}

TEST(Set, AKindWhoseSchemaIsOpenStillKnowsItsFields) {
  std::vector<Manifest> all{manifest(
      "{apiVersion: kubeflow.org/v1alpha1, kind: ChainerJob, metadata: {name: c}, spec: {master: "
      "{template: {spec: {containers: [{name: chainer, image: a}]}}}}}")};
  EXPECT_THAT(after_set(all, {"spec.master.mpiConfg.slots=2"}),
              HasSubstr("has no field spec.master.mpiConfg, did you mean mpiConfig?"));
}

TEST(Set, WhatIsWrongIsSaid) {
  std::vector<Manifest> all{manifest(kJob)};
  EXPECT_THAT(after_set(all, {"spec.replicas"}), HasSubstr("write PATH=VALUE"));
  EXPECT_THAT(after_set(all, {"spec..x=1"}), HasSubstr("is no path of a field"));
  EXPECT_THAT(after_set(all, {"spec.runPolicy.suspend=[1"}), HasSubstr("--set spec.runPolicy"));
}

TEST(Env, ComesFromTheFlagOrFromHere) {
  EXPECT_EQ(parse_env("A=b=c", {}).value(), std::pair(std::string("A"), std::string("b=c")));
  EXPECT_EQ(parse_env("A", {{"A", "x"}}).value().second, "x");
  EXPECT_THAT(parse_env("A", {}).error().message, HasSubstr("not set here; write A=VALUE"));
  EXPECT_FALSE(parse_env("=x", {}));
  EXPECT_FALSE(parse_env("", {}));
}

TEST(Env, IsInAllContainersAsItWasWritten) {
  std::vector<Manifest> all{manifest(kPod)};
  ASSERT_TRUE(add_environment({{"X", "$(Y) $z"}, {"N", ""}}, all));
  const auto& spec = std::as_const(all[0].object)["spec"];
  const auto wanted = R"([{"name":"X","value":"$$(Y) $$z"},{"name":"N","value":""}])";
  EXPECT_EQ(json::write(spec["containers"][0]["env"]), wanted) << "the manifest's X gives way";
  EXPECT_EQ(json::write(spec["initContainers"][0]["env"]), wanted);
}

TEST(Mounts, AreVolumesOfAllContainers) {
  std::vector<Manifest> all{manifest(kJob), manifest(kPod)};
  ASSERT_TRUE(add_mounts({{.directory = "/data", .path = "/data"},
                          {.directory = "/out", .path = "/o", .read_only = true}},
                         all));
  const auto& spec =
      std::as_const(all[0].object)["spec"]["msReplicaSpecs"]["Scheduler"]["template"]["spec"];
  EXPECT_EQ(json::write(spec["volumes"]),
            R"([{"name":"muster-mount-0","hostPath":{"path":"/data","type":"Directory"}},)"
            R"({"name":"muster-mount-1","hostPath":{"path":"/out","type":"Directory"}}])");
  EXPECT_EQ(json::write(spec["containers"][0]["volumeMounts"]),
            R"([{"name":"muster-mount-0","mountPath":"/data"},)"
            R"({"name":"muster-mount-1","mountPath":"/o","readOnly":true}])");
  EXPECT_EQ(
      std::as_const(all[1].object)["spec"]["initContainers"][0]["volumeMounts"].as_array().size(),
      2U);
}

TEST(Mounts, AreReadFromTheFlag) {
  char path[] = "/tmp/muster-mount.XXXXXX";
  const std::string directory = ::mkdtemp(path);
  std::ofstream(directory + "/file") << "x";
  const auto parsed = [&](const std::string& text) {
    const auto mount = parse_mount(text);
    return mount ? mount->directory + " " + mount->path + (mount->read_only ? " ro" : "")
                 : mount.error().message;
  };
  EXPECT_EQ(parsed(directory), directory + " " + directory);
  EXPECT_EQ(parsed(directory + ":ro"), directory + " " + directory + " ro");
  EXPECT_EQ(parsed(directory + ":/data/:ro"), directory + " /data ro");
  EXPECT_EQ(parsed(directory + ":/data"), directory + " /data");
  EXPECT_THAT(parsed(directory + ":data"), HasSubstr("data is not an absolute path"));
  EXPECT_THAT(parsed(directory + "/none"), HasSubstr("No such file or directory"));
  EXPECT_THAT(parsed(directory + "/file"), HasSubstr("is not a directory"));
  EXPECT_THAT(parsed(directory + ":/a:/b"), HasSubstr("write DIR, DIR:PATH or DIR:PATH:ro"));
  EXPECT_THAT(parsed(""), HasSubstr("write DIR"));
  std::filesystem::remove_all(directory);
}

TEST(Mounts, NeedSomethingThatRuns) {
  std::vector<Manifest> none;
  EXPECT_FALSE(add_mounts({{.directory = "/data", .path = "/data"}}, none));
  EXPECT_FALSE(add_environment({{"A", "b"}}, none));
}

}  // namespace
}  // namespace muster::cli
