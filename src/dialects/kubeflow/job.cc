#include "dialects/kubeflow/job.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "api/object.h"
#include "base/check.h"
#include "base/strings.h"

namespace muster::dialects::kubeflow {
namespace {

constexpr std::array kPolicies = {RestartPolicy::Always, RestartPolicy::OnFailure,
                                  RestartPolicy::Never, RestartPolicy::ExitCode};

std::optional<std::int64_t> read_limit(const json::Value& value) {
  return value.is_int() ? std::optional(value.as_int()) : std::nullopt;
}

// Callers of decode() may not have validated: a number that no int holds must not wrap.
int read_count(const json::Value& value, int otherwise) {
  if (!value.is_int()) return otherwise;
  return static_cast<int>(
      std::clamp<std::int64_t>(value.as_int(), 0, std::numeric_limits<std::int32_t>::max() / 16));
}

RestartPolicy read_restart(const json::Value& value, RestartPolicy otherwise) {
  const auto found = std::ranges::find(kPolicies, value.as_string(),
                                       [](RestartPolicy policy) { return to_string(policy); });
  return found == kPolicies.end() ? otherwise : *found;
}

plan::CleanUp read_clean_up(const json::Value& value, plan::CleanUp otherwise) {
  if (value.as_string() == "None") return plan::CleanUp::None;
  if (value.as_string() == "All") return plan::CleanUp::All;
  if (value.as_string() == "Running") return plan::CleanUp::Running;
  return otherwise;
}

// Empty where it cannot be told: the table has refused that entry.
std::string listed_role(const Replicas& where, const json::Value& spec) {
  const json::Value& written = spec[where.role_member];
  if (!spec.is_object() || !(written.is_null() || written.is_string())) return {};
  return written.as_string().empty() ? std::string(where.default_role) : written.as_string();
}

std::vector<RoleSpec> read_roles(const Kind& kind, const json::Value& job) {
  const auto entries = role_entries(kind, job);
  std::vector<RoleSpec> out;
  for (const RoleKind& role : kind.roles) {
    for (const RoleEntry& entry : entries) {
      if (find_role(kind, entry.key) != &role) continue;
      const json::Value& policy = kind.restart_in_template
                                      ? entry.spec->at_path("template.spec.restartPolicy")
                                      : (*entry.spec)["restartPolicy"];
      out.push_back({.kind = &role,
                     .name = std::string(role.name),
                     .path = entry.path,
                     .spec = entry.spec,
                     .replicas = read_count((*entry.spec)["replicas"], 1),
                     .restart = read_restart(policy, kind.restart)});
    }
  }
  return out;
}

}  // namespace

std::vector<RoleEntry> role_entries(const Kind& kind, const json::Value& job) {
  const Replicas& where = kind.replicas;
  const Path path(fmt::format("spec.{}", where.field));
  const json::Value& specs = job["spec"][where.field];
  std::vector<RoleEntry> out;
  if (where.is_list()) {
    for (std::size_t i = 0; i < specs.as_array().size(); ++i) {
      out.push_back({.key = listed_role(where, specs[i]), .path = path[i], .spec = &specs[i]});
    }
    return out;
  }
  for (const auto& [key, spec] : specs.as_object()) {
    out.push_back({.key = key, .path = path / key, .spec = &spec});
  }
  return out;
}

const RoleSpec* Job::role(std::string_view name) const {
  const auto found = std::ranges::find(roles, name, &RoleSpec::name);
  return found == roles.end() ? nullptr : &*found;
}

int Job::replicas(std::string_view name) const {
  const auto* found = role(name);
  return found == nullptr ? 0 : found->replicas;
}

int Job::total() const {
  int sum = 0;
  for (const RoleKind& role : kind->roles) sum += replicas(role.name);
  return sum;
}

std::string Job::pod_name(std::string_view role, int index) const {
  return fmt::format("{}-{}-{}", ref.name, to_lower(role), index);
}

std::size_t Job::main_container(const RoleSpec& role) const {
  const auto index = find_main_container(*kind, role.pod());
  CHECK(index.has_value());  // a job without it was refused
  return *index;
}

std::int64_t Job::port(const RoleSpec& role) const {
  const auto& container = role.pod()["spec"]["containers"][main_container(role)];
  const auto* declared = api::find_named(container["ports"], kind->container.port.name);
  return declared == nullptr ? default_port : (*declared)["containerPort"].as_int();
}

bool Job::has_services() const {
  return kind->services.role.empty() ? total() > 0 : replicas(kind->services.role) > 0;
}

Job decode(const Kind& kind, const api::Resource& resource, const json::Value& job) {
  const auto& run = job["spec"]["runPolicy"];
  const auto& minimum = run["schedulingPolicy"]["minAvailable"];
  Job out{.kind = &kind, .object = &job, .ref = plan::job_ref(resource, job)};
  out.roles = read_roles(kind, job);
  out.clean_up = read_clean_up(run["cleanPodPolicy"], kind.clean_up);
  out.limits = {.deadline_seconds = read_limit(run["activeDeadlineSeconds"]),
                .ttl_seconds = read_limit(run["ttlSecondsAfterFinished"]),
                .backoff = read_limit(run["backoffLimit"])};
  if (minimum.is_int()) out.min_available = read_count(minimum, 0);
  out.suspended = run["suspend"].as_bool();
  out.default_port = kind.container.port.number;
  return out;
}

std::optional<std::size_t> find_main_container(const Kind& kind, const json::Value& pod) {
  const auto& containers = pod["spec"]["containers"].as_array();
  const auto found = std::ranges::find_if(containers, [&](const json::Value& container) {
    return container["name"].as_string() == kind.container.name;
  });
  if (found != containers.end()) return static_cast<std::size_t>(found - containers.begin());
  if (kind.container.or_only && containers.size() == 1) return 0;
  return std::nullopt;
}

}  // namespace muster::dialects::kubeflow
