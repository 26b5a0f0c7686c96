#include "paddle_support.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support.h"

namespace muster::dialects::test {
namespace {

// Every rank has the address that its name says.
struct Everywhere final : plan::Addresses {
  [[nodiscard]] std::optional<std::string> of(const plan::ServiceIp&) const override { return {}; }
  [[nodiscard]] std::optional<std::string> of(const plan::PodIp& pod) const override {
    return fmt::format("<{} {}>", pod.role, pod.index);
  }
};

}  // namespace

const plan::Dialect& paddlejob() {
  return *registry().find("batch.paddlepaddle.org/v1", "PaddleJob");
}

json::Value paddle(std::string_view roles, std::string_view more) {
  auto job = parse(
      "{apiVersion: batch.paddlepaddle.org/v1, kind: PaddleJob, "
      "metadata: {name: j, namespace: team, uid: 7d7b0f3e-0001, generation: 1}}");
  job["spec"] = parse(more);
  const json::Value wanted = parse("{" + std::string(roles) + "}");
  for (const auto& [role, replicas] : wanted.as_object()) {
    job["spec"][role] =
        parse("template: {spec: {containers: [{name: paddle, image: example.org/paddle:1}]}}");
    job["spec"][role]["replicas"] = replicas;
  }
  return job;
}

plan::Plan paddle_plan(const json::Value& job) {
  auto plan = paddlejob().compile(job);
  if (plan) return *plan;
  ADD_FAILURE() << plan.error().message;
  return {};
}

std::string config_text(const plan::Plan& plan, const std::string& key) {
  const plan::Object& config = plan.objects.back();
  for (const auto& [path, value] : config.values) {
    if (path == plan::JsonPath{"data", key}) return *plan::resolve(value, 0, Everywhere());
  }
  return config.body["data"][key].as_string();
}

}  // namespace muster::dialects::test
