#include "dialects/mindspore_pod.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "api/object.h"
#include "base/check.h"
#include "dialects/mindspore_fields.h"

namespace muster::dialects::mindspore {
namespace {

std::size_t main_container_index(const json::Value& pod) {
  const auto& containers = pod["spec"]["containers"].as_array();
  const auto found = std::ranges::find_if(containers, [](const json::Value& container) {
    return container["name"].as_string() == kContainer;
  });
  CHECK(found != containers.end());  // a job without it was refused
  return static_cast<std::size_t>(found - containers.begin());
}

json::Value from_field(std::string_view name, std::string_view field) {
  return json::Object{
      {"name", name},
      {"valueFrom",
       json::Object{{"fieldRef", json::Object{{"apiVersion", "v1"}, {"fieldPath", field}}}}}};
}

json::Value literal(std::string_view name, std::string value) {
  return json::Object{{"name", name}, {"value", std::move(value)}};
}

std::string_view role_value(RoleName role) {
  constexpr std::array<std::string_view, 3> kValues = {"MS_SCHED", "MS_PSERVER", "MS_WORKER"};
  return kValues[static_cast<std::size_t>(role)];
}

}  // namespace

const json::Array& container_ports(const json::Value& pod) {
  return pod["spec"]["containers"][main_container_index(pod)]["ports"].as_array();
}

void add_job_port(json::Value& pod) {
  auto& container = pod["spec"]["containers"].array()[main_container_index(pod)];
  if (api::find_named(container["ports"], kPortName) != nullptr) return;
  container["ports"].array().push_back(
      json::Object{{"name", kPortName}, {"containerPort", kDefaultPort}});
}

void inject_environment(json::Value& pod, RoleName role, const Rendezvous& rendezvous,
                        std::vector<plan::LateValue>& late) {
  const std::size_t container = main_container_index(pod);
  auto& env = pod["spec"]["containers"].array()[container]["env"].array();
  // A user who names the nodes wants those names; with any other variable the last entry, ours,
  // wins.
  const bool names_nodes = std::ranges::any_of(
      env, [](const json::Value& entry) { return entry["name"].as_string() == "MS_NODE_ID"; });

  if (role == RoleName::Scheduler) {
    env.push_back(from_field("MS_SCHED_HOST", "status.podIP"));
  } else {
    late.push_back({.path = {"spec", "containers", container, "env", env.size(), "value"},
                    .value = plan::ServiceIp{rendezvous.service}});
    env.push_back(literal("MS_SCHED_HOST", ""));
  }
  if (!names_nodes) env.push_back(from_field("MS_NODE_ID", "metadata.name"));
  env.push_back(literal("MS_SCHED_PORT", fmt::to_string(rendezvous.port)));
  env.push_back(literal("MS_SERVER_NUM", fmt::to_string(rendezvous.servers)));
  env.push_back(literal("MS_WORKER_NUM", fmt::to_string(rendezvous.workers)));
  env.push_back(literal("MS_ROLE", std::string(role_value(role))));
}

}  // namespace muster::dialects::mindspore
