#pragma once

#include <string>
#include <string_view>

#include "json/value.h"
#include "support.h"

namespace muster::dialects::test {

// A ChainerJob `j` of the team, with these fields of spec.master and these sets.
inline json::Value chainer(std::string_view sets = "", std::string_view master = "") {
  json::Value job = parse(R"(
apiVersion: kubeflow.org/v1alpha1
kind: ChainerJob
metadata: {name: j, namespace: team, uid: 7d7b0f3e-0001, generation: 1}
spec: {}
)");
  job["spec"]["master"] = parse("{" + std::string(master) + "}");
  job["spec"]["master"]["template"] =
      parse("spec: {containers: [{name: chainer, image: example.org/mn:1, command: [mpiexec]}]}");
  const json::Value sizes = parse("{" + std::string(sets) + "}");
  for (const auto& [name, replicas] : sizes.as_object()) {
    job["spec"]["workerSets"][name] = parse(
        "template: {spec: {containers: [{name: chainer, image: example.org/mn:1, command: "
        "[sleep, inf]}]}}");
    job["spec"]["workerSets"][name]["replicas"] = replicas;
  }
  return job;
}

inline plan::Plan chainer_plan(const json::Value& job) {
  auto plan = dialect_of(job).compile(job);
  if (plan) return std::move(*plan);
  ADD_FAILURE() << plan.error().message;
  return {};
}

}  // namespace muster::dialects::test
