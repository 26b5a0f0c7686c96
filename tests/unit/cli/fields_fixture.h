#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/fields/schemas.h"
#include "dialects/registry.h"
#include "yaml/yaml.h"

namespace muster::cli {

inline const plan::Registry& all_kinds() {
  static const plan::Registry registry = dialects::make_registry();
  return registry;
}

inline json::Value parse(std::string_view text) {
  const auto documents = yaml::read(text);
  return documents && !documents->empty() ? documents->front().value : json::Value();
}

// The schema of what the object says it is.
inline json::Value schema_of(const json::Value& object) {
  const auto* dialect =
      all_kinds().find(object["apiVersion"].as_string(), object["kind"].as_string());
  const api::Resource plain{.kind = object["kind"].as_string()};
  return schema_for(dialect == nullptr ? plain : dialect->identity().resource, dialect);
}

inline constexpr std::string_view kJob = R"(
apiVersion: mindspore.gitee.com/v1
kind: MSJob
metadata: {name: bert, labels: {team: vision}}
spec:
  msReplicaSpecs:
    Scheduler: {replicas: 1, template: &pod {spec: {containers: [{name: mindspore, image: a}]}}}
    Worker: {replicas: 2, template: *pod}
)";

}  // namespace muster::cli
