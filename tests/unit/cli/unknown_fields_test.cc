#include "cli/fields/unknown_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/fields/kubernetes_types.h"
#include "fields_fixture.h"

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> unknown(std::string_view text) {
  const auto object = parse(text);
  const auto* dialect =
      all_kinds().find(object["apiVersion"].as_string(), object["kind"].as_string());
  std::vector<std::string> lines;
  for (const auto& field : unknown_fields(schema_of(object), dialect, object)) {
    lines.push_back(field.path + (field.meant.empty() ? "" : " → " + field.meant));
  }
  return lines;
}

TEST(UnknownFields, OfAJobWithWhatWasMeant) {
  EXPECT_THAT(unknown(kJob), IsEmpty());
  EXPECT_THAT(unknown("{apiVersion: mindspore.gitee.com/v1, kind: MSJob, spec: {msReplicaSpecs: "
                      "{Worker: {replcas: 4, zzz: 1}}}, extra: {}}"),
              ElementsAre("spec.msReplicaSpecs.Worker.replcas → replicas",
                          "spec.msReplicaSpecs.Worker.zzz", "extra"));
}

TEST(UnknownFields, OfItsTemplateAndMetadata) {
  EXPECT_THAT(
      unknown("{apiVersion: mindspore.gitee.com/v1, kind: MSJob, metadata: {lables: {}}, spec: "
              "{msReplicaSpecs: {Worker: {template: {spec: {hostnetwork: true, containers: [{name: "
              "a, comand: [x], resources: {limit: {}}, env: [{nam: x}]}]}}}}}}"),
      ElementsAre("metadata.lables → labels",
                  "spec.msReplicaSpecs.Worker.template.spec.hostnetwork → hostNetwork",
                  "spec.msReplicaSpecs.Worker.template.spec.containers[0].comand → command",
                  "spec.msReplicaSpecs.Worker.template.spec.containers[0].resources.limit → limits",
                  "spec.msReplicaSpecs.Worker.template.spec.containers[0].env[0].nam → name"));
}

TEST(UnknownFields, OfAKindWhoseSchemaIsOpen) {
  EXPECT_THAT(unknown("{apiVersion: kubeflow.org/v1alpha1, kind: ChainerJob, spec: {master: "
                      "{tempalte: {}}}}"),
              ElementsAre("spec.master.tempalte → template"));
}

TEST(UnknownFields, OfKubernetesOwnKinds) {
  EXPECT_THAT(unknown("{kind: Pod, spec: {contianers: []}, status: {anything: 1}}"),
              ElementsAre("spec.contianers → containers"));
  EXPECT_THAT(unknown("{kind: ConfigMap, data: {any.key: x}, dta: {}}"), ElementsAre("dta → data"));
  EXPECT_THAT(unknown("{kind: PersistentVolumeClaim, spec: {resources: {request: {}}}}"),
              ElementsAre("spec.resources.request → requests"));
  EXPECT_THAT(unknown("{kind: Lease, spec: {whatever: 1}}"), IsEmpty()) << "nothing is known of it";
}

TEST(UnknownFields, LabelsAndTheLikeMayBeNamedAnyhow) {
  EXPECT_THAT(
      unknown("{kind: Pod, metadata: {labels: {a: b}, annotations: {x.org/y: z}}, spec: "
              "{nodeSelector: {c: d}, containers: [{resources: {limits: {my.org/card: 1}}}]}}"),
      IsEmpty());
}

TEST(KubernetesTypes, EveryTypeThatIsReferredToIsThere) {
  const std::function<void(const json::Value&)> look = [&](const json::Value& node) {
    if (const auto& name = node["$ref"].as_string(); !name.empty()) {
      EXPECT_TRUE(kubernetes_types().contains(name)) << name;
    }
    for (const auto& [name, member] : node["properties"].as_object()) look(member);
    if (!node["items"].is_null()) look(node["items"]);
    if (!node["additionalProperties"].is_null()) look(node["additionalProperties"]);
  };
  for (const auto& [name, type] : kubernetes_types()) look(type);
  EXPECT_GT(kubernetes_types().size(), 80U);
}

TEST(PodSpecs, OfEveryTemplateThatIsThere) {
  auto job = parse(kJob);
  EXPECT_EQ(pod_specs(schema_of(job), job).size(), 2U);
  auto pod = parse("{kind: Pod, spec: {containers: []}}");
  EXPECT_EQ(pod_specs(schema_of(pod), pod).size(), 1U);
  auto batch = parse("{apiVersion: batch/v1, kind: Job, spec: {template: {spec: {}}}}");
  EXPECT_EQ(pod_specs(schema_of(batch), batch).size(), 1U);
  auto list = parse(
      "{apiVersion: batch.tensorstack.dev/v1beta1, kind: MPIJob, spec: {replicaSpecs: [{type: "
      "launcher}, {type: worker, template: {spec: {}}}]}}");
  EXPECT_EQ(pod_specs(schema_of(list), list).size(), 1U);
}

}  // namespace
}  // namespace muster::cli
