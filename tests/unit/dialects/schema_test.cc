#include "dialects/check/schema.h"

#include <array>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace muster::dialects::test {
namespace {

using testing::Contains;

constexpr auto kFields = std::to_array<Field>({
    {.path = "spec", .type = Type::Object, .required = true, .doc = "What is wanted."},
    {.path = "spec.count",
     .type = Type::Int32,
     .fallback = "1",
     .minimum = 1,
     .maximum = 9,
     .doc = "How many."},
    {.path = "spec.word", .type = Type::String, .allowed = "|One|Two"},
    {.path = "spec.name", .type = Type::String, .required = true},
    {.path = "spec.port", .type = Type::NumberOrText, .minimum = 1, .maximum = 9},
    {.path = "spec.items", .type = Type::List, .maximum = 4},
    {.path = "spec.items[]", .type = Type::Open},
    {.path = "spec.items[].at", .type = Type::Time},
    {.path = "spec.amounts", .type = Type::Map, .maximum = 3},
    {.path = "spec.amounts.*", .type = Type::Quantity},
});

TEST(Schema, SaysWhatTheTableSays) {
  const auto schema = schema_of(
      FieldTable(kFields),
      {{.at = "spec.items", .rule = "self.size() > 0", .message = "is empty"},
       {.at = "spec", .rule = "self.count > 1", .message = "m", .reason = "FieldValueRequired"}});
  EXPECT_EQ(schema, parse(R"(
type: object
required: [spec]
properties:
  spec:
    description: What is wanted.
    type: object
    required: [name]
    x-kubernetes-validations:
    - {rule: self.count > 1, message: m, reason: FieldValueRequired}
    properties:
      count: {description: How many. Default 1., type: integer, format: int32, minimum: 1, maximum: 9}
      word: {type: string, enum: ["", One, Two]}
      name: {type: string, minLength: 1}
      port:
        x-kubernetes-int-or-string: true
        pattern: ^[0-9]+$
        maxLength: 9
        x-kubernetes-validations:
        - rule: int(self) >= 1 && int(self) <= 9
          message: must be a whole number from 1 to 9
          reason: FieldValueInvalid
      items:
        type: array
        maxItems: 4
        x-kubernetes-validations:
        - {rule: self.size() > 0, message: is empty, reason: FieldValueInvalid}
        items:
          type: object
          x-kubernetes-preserve-unknown-fields: true
          properties:
            at: {type: string, format: date-time}
      amounts:
        type: object
        maxProperties: 3
        additionalProperties: {x-kubernetes-int-or-string: true}
)"));
}

void find_silent(const json::Value& schema, const std::string& path,
                 std::vector<std::string>& silent) {
  if (schema["description"].as_string().empty()) silent.push_back(path);
  for (const auto& [name, member] : schema["properties"].as_object()) {
    find_silent(member, path + "." + name, silent);
  }
  for (const char* each : {"items", "additionalProperties"}) {
    if (schema[each].is_object()) find_silent(schema[each], path + "[]", silent);
  }
}

TEST(Schema, EveryFieldOfEveryKindHasASentence) {
  for (const auto& dialect : registry().all()) {
    std::vector<std::string> silent;
    find_silent(dialect->schema(), "", silent);
    EXPECT_THAT(silent, testing::ElementsAre(".metadata"))
        << dialect->identity().resource.qualified();
  }
}

// Where the replica specs of the kinds are.
const std::map<std::string, std::vector<std::string>> kRoles = {
    {"msjobs.mindspore.gitee.com", {"msReplicaSpecs.additionalProperties"}},
    {"msjobs.kubeflow.org", {"replicaSpecs.items"}},
    {"paddlejobs.batch.paddlepaddle.org", {"ps", "worker", "heter"}},
    {"mpijobs.batch.tensorstack.dev", {"worker", "replicaSpecs.items"}},
    {"chainerjobs.kubeflow.org", {"master", "workerSets.additionalProperties", "worker"}},
};

TEST(Schema, MS14_TemplatesKeepWhatWeDoNotKnow) {
  for (const auto& dialect : registry().all()) {
    if (dialect->identity().embedded_only) continue;
    const std::string kind = dialect->identity().resource.qualified();
    SCOPED_TRACE(kind);
    const auto schema = dialect->schema();
    const auto& spec = schema["properties"]["spec"]["properties"];
    ASSERT_TRUE(kRoles.contains(kind));
    for (const std::string& role : kRoles.at(kind)) {
      const auto& pod = spec.at_path(role)["properties"]["template"];
      EXPECT_TRUE(pod["x-kubernetes-preserve-unknown-fields"].as_bool());
      EXPECT_TRUE(pod["properties"]["metadata"]["x-kubernetes-preserve-unknown-fields"].as_bool());
    }
    const auto& status = schema["properties"]["status"]["properties"];
    EXPECT_TRUE(status["muster"]["x-kubernetes-preserve-unknown-fields"].as_bool());
  }
}

// Paths of objects with fields of their own that drop all others.
void find_pruned(const json::Value& schema, const std::string& path,
                 std::vector<std::string>& pruned) {
  if (schema["properties"].is_object() &&
      !schema["x-kubernetes-preserve-unknown-fields"].as_bool()) {
    pruned.push_back(path);
  }
  for (const auto& [name, property] : schema["properties"].as_object()) {
    find_pruned(property, path + "." + name, pruned);
  }
  if (schema["additionalProperties"].is_object())
    find_pruned(schema["additionalProperties"], path + ".*", pruned);
}

TEST(Schema, AChainerJobKeepsWhateverItsSpecHolds) {
  const auto schema = registry().find("kubeflow.org/v1alpha1", "ChainerJob")->schema();
  std::vector<std::string> pruned;
  find_pruned(schema["properties"]["spec"], "spec", pruned);
  EXPECT_THAT(pruned, testing::IsEmpty());
}

std::vector<std::string> rules_at(const json::Value& schema) {
  std::vector<std::string> out;
  for (const auto& rule : schema["x-kubernetes-validations"].as_array()) {
    out.push_back(rule["rule"].as_string() + " # " + rule["message"].as_string());
  }
  return out;
}

TEST(Schema, MSJobsRulesAreInTheSchema) {
  const auto schema = dialect().schema();
  const auto& spec = schema["properties"]["spec"];
  EXPECT_THAT(
      rules_at(spec["properties"]["msReplicaSpecs"]),
      testing::ElementsAre(
          "self.all(r, r.lowerAscii() in ['scheduler', 'ps', 'worker']) # the roles are "
          "Scheduler, PS and Worker",
          "self.all(r, !(r.lowerAscii() == 'scheduler') || ((has(self[r].replicas) ? "
          "self[r].replicas : 1) >= 0 && (has(self[r].replicas) ? self[r].replicas : 1) <= "
          "1)) # Scheduler: replicas must be 0 or 1: all ranks meet at one Scheduler",
          "self.exists(r, r.lowerAscii() == 'worker') # has no Worker; without a Worker the "
          "job could never succeed",
          "self.all(r, !(r.lowerAscii() == 'worker') || ((has(self[r].replicas) ? "
          "self[r].replicas : 1) >= 1 && (has(self[r].replicas) ? self[r].replicas : 1) <= "
          "10000)) # Worker: replicas must be at least 1: without a Worker the job could "
          "never succeed",
          "self.map(r, (has(self[r].replicas) ? self[r].replicas : 1)).sum() <= 10000 # asks "
          "for too many pods; at most 10000 are allowed"));
  EXPECT_EQ(rules_at(spec).size(), 2U);
}

TEST(Schema, AListOfRolesHasTheSameRules) {
  const auto* dialect = registry().find("kubeflow.org/v1", "MSJob");
  const auto schema = dialect->schema();
  EXPECT_THAT(rules_at(schema["properties"]["spec"]["properties"]["replicaSpecs"]),
              Contains("self.filter(r, (has(r.replicaType) ? r.replicaType : 'MASTER') == "
                       "'WORKER').size() <= 1 # WORKER is there twice; keep one of the two"));
}

}  // namespace
}  // namespace muster::dialects::test
