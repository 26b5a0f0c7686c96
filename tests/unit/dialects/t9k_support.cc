#include "t9k_support.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "dialects/check/checked_dialect.h"
#include "support.h"

namespace muster::dialects::test {

const plan::Dialect& t9k_mpijob() {
  return *registry().find("batch.tensorstack.dev/v1beta1", "MPIJob");
}

json::Value mpi_job(std::string_view more) {
  auto job = parse(
      "{apiVersion: batch.tensorstack.dev/v1beta1, kind: MPIJob, "
      "metadata: {name: j, namespace: team, uid: 4b1d0c2a-0009, generation: 1}}");
  job["spec"] = parse(more);
  if (std::as_const(job)["spec"]["replicaSpecs"].is_null()) {
    json::Value& worker = job["spec"]["worker"];
    if (std::as_const(worker)["replicas"].is_null()) worker["replicas"] = 2;
    if (std::as_const(worker)["cmd"].is_null()) worker["cmd"] = parse("[./walk]");
    if (std::as_const(worker)["template"].is_null()) {
      worker["template"] = parse(
          "spec: {initContainers: [{name: fetch, image: 'example.org/fetch:1'}], "
          "containers: [{name: mpi-worker, image: 'example.org/mpi:1'}]}");
    }
  }
  return job;
}

plan::Plan mpi_plan(const json::Value& job) {
  auto plan = t9k_mpijob().compile(job);
  if (plan) return *plan;
  ADD_FAILURE() << plan.error().message;
  return {};
}

std::vector<std::string> command_of(const json::Value& pod, std::size_t container) {
  std::vector<std::string> out;
  for (const auto& word : pod["spec"]["containers"][container]["command"].as_array()) {
    out.push_back(word.as_string());
  }
  return out;
}

std::vector<std::string> mpirun_of(const plan::Plan& plan) {
  std::vector<std::string> words = command_of(plan.role("launcher")->pod);
  words.erase(words.begin(), std::ranges::find(words, "--") + 1);
  return words;
}

std::vector<std::string> mistakes(const json::Value& job) {
  std::vector<std::string> out;
  for (const auto& violation :
       dynamic_cast<const CheckedDialect&>(t9k_mpijob()).examine(job).violations) {
    out.push_back(fmt::format("{} ({})", violation.path, violation.rule.id));
  }
  return out;
}

std::vector<std::string> update_mistakes(const json::Value& old, const json::Value& job) {
  std::vector<std::string> out;
  for (const auto& cause : t9k_mpijob().validate_update(old, job)) out.push_back(cause.field);
  return out;
}

std::vector<std::string> warnings(const json::Value& job) {
  std::vector<std::string> out;
  for (const auto& warning : mpi_plan(job).warnings) {
    if (warning.reason != "Created") out.push_back(warning.reason);
  }
  return out;
}

}  // namespace muster::dialects::test
