#include "dialects/mindspore_spec.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/strings.h"

namespace muster::dialects::mindspore {
namespace {

constexpr std::array kRoles = {RoleName::Scheduler, RoleName::PS, RoleName::Worker};
constexpr std::array kPolicies = {RestartPolicy::Always, RestartPolicy::OnFailure,
                                  RestartPolicy::Never, RestartPolicy::ExitCode};

std::optional<std::int64_t> read_limit(const json::Value& value) {
  return value.is_int() ? std::optional(value.as_int()) : std::nullopt;
}

// Callers of decode() may not have validated: a number that no int holds must not wrap.
int read_count(const json::Value& value, int otherwise) {
  if (!value.is_int()) return otherwise;
  return static_cast<int>(
      std::clamp<std::int64_t>(value.as_int(), 0, std::numeric_limits<std::int32_t>::max() / 4));
}

RestartPolicy read_restart(const json::Value& value) {
  const auto found = std::ranges::find(kPolicies, value.as_string(),
                                       [](RestartPolicy policy) { return to_string(policy); });
  return found == kPolicies.end() ? RestartPolicy::Never : *found;
}

plan::CleanUp read_clean_up(const json::Value& value) {
  if (value.as_string() == "None") return plan::CleanUp::None;
  if (value.as_string() == "All") return plan::CleanUp::All;
  return plan::CleanUp::Running;
}

std::vector<RoleSpec> read_roles(const json::Value& roles) {
  std::vector<RoleSpec> out;
  for (const auto name : kRoles) {
    for (const auto& [key, role] : roles.as_object()) {
      if (parse_role(key) != name) continue;
      out.push_back({.name = name,
                     .key = key,
                     .replicas = read_count(role["replicas"], 1),
                     .restart = read_restart(role["restartPolicy"]),
                     .pod = &role["template"]});
    }
  }
  return out;
}

}  // namespace

std::string_view to_string(RoleName role) {
  constexpr std::array<std::string_view, 3> kNames = {"Scheduler", "PS", "Worker"};
  return kNames[static_cast<std::size_t>(role)];
}

std::optional<RoleName> parse_role(std::string_view key) {
  for (const auto role : kRoles) {
    if (equal_ignoring_case(key, to_string(role))) return role;
  }
  return std::nullopt;
}

std::string_view to_string(RestartPolicy policy) {
  constexpr std::array<std::string_view, 4> kNames = {"Always", "OnFailure", "Never", "ExitCode"};
  return kNames[static_cast<std::size_t>(policy)];
}

const RoleSpec* Spec::role(RoleName name) const {
  const auto found = std::ranges::find(roles, name, &RoleSpec::name);
  return found == roles.end() ? nullptr : &*found;
}

int Spec::replicas(RoleName name) const {
  const auto* found = role(name);
  return found == nullptr ? 0 : found->replicas;
}

int Spec::total() const {
  int sum = 0;
  for (const auto name : kRoles) sum += replicas(name);
  return sum;
}

Spec decode(const json::Value& job) {
  const auto& spec = job["spec"];
  const auto& run = spec["runPolicy"];
  const auto& scheduling = run["schedulingPolicy"];
  Spec out;
  out.roles = read_roles(spec["msReplicaSpecs"]);
  out.all_workers = spec["successPolicy"].as_string() == "AllWorkers";
  out.dynamic_workers = spec["enableDynamicWorker"].as_bool();
  out.clean_up = read_clean_up(run["cleanPodPolicy"]);
  out.limits = {.deadline_seconds = read_limit(run["activeDeadlineSeconds"]),
                .ttl_seconds = read_limit(run["ttlSecondsAfterFinished"]),
                .backoff = read_limit(run["backoffLimit"])};
  if (scheduling["minAvailable"].is_int()) {
    out.min_available = read_count(scheduling["minAvailable"], 0);
  }
  out.queue = scheduling["queue"].as_string();
  out.priority_class = scheduling["priorityClass"].as_string();
  out.min_resources = scheduling["minResources"];
  return out;
}

}  // namespace muster::dialects::mindspore
