#include "dialects/kubeflow/rules.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/strings.h"
#include "dialects/check/messages.h"

namespace muster::dialects::kubeflow {
namespace {

Path roles_path(const Job& job) {
  return Path(fmt::format("spec.{}", job.kind->replicas.field));
}

const json::Value& specs_of(const Job& job) {
  return job.spec()[job.kind->replicas.field];
}

// What has the wrong type was refused by the table.
bool has_right_type(const Job& job) {
  return job.kind->replicas.is_list() ? specs_of(job).is_array() : specs_of(job).is_object();
}

bool is_empty(const Job& job) {
  return specs_of(job).as_object().empty() && specs_of(job).as_array().empty();
}

std::vector<std::string_view> required_roles(const Kind& kind) {
  std::vector<std::string_view> names;
  for (const RoleKind& role : kind.roles) {
    if (role.required) names.push_back(role.name);
  }
  return names;
}

std::string reason_why(const RoleKind& role) {
  return role.why.empty() ? std::string() : fmt::format(": {}", role.why);
}

void check_role_keys(const Job& job, Findings& findings) {
  const Kind& kind = *job.kind;
  if (has_right_type(job) && is_empty(job)) {
    const auto needed = required_roles(kind);
    findings.refuse(
        roles_path(job), dialects::rules::kSomeRole,
        needed.empty() ? "is empty; a job needs at least one role"
                       : fmt::format("is empty; a job needs at least the role {}", listed(needed)));
  }
  std::map<const RoleKind*, std::string> seen;
  for (const RoleEntry& entry : role_entries(kind, *job.object)) {
    const RoleKind* role = find_role(kind, entry.key);
    if (role == nullptr && kind.replicas.is_list()) continue;  // its member was refused
    if (role == nullptr) {
      findings.refuse(
          entry.path, rules::kRoleKey,
          fmt::format("{} is not a role; the roles are {}{}", in_quotes(entry.key),
                      listed(role_names(kind)), did_you_mean(entry.key, role_names(kind))));
      continue;
    }
    const auto [first, fresh] =
        seen.try_emplace(role, kind.replicas.is_list() ? entry.path.text() : entry.key);
    if (!fresh) {
      findings.refuse(entry.path, rules::kSameRole,
                      fmt::format("is the same role as {}; keep one of the two", first->second));
    }
  }
}

// Only numbers that the table let pass: one mistake, one complaint.
void check_role_size(const RoleSpec& role, Findings& findings) {
  const auto& written = (*role.spec)["replicas"];
  if (!written.is_null() && (!written.is_int() || written.as_int() < 0)) return;
  if (role.replicas > kMostPods) return;
  if (role.replicas >= role.kind->least && role.replicas <= role.kind->most) return;
  findings.refuse(
      role.path / "replicas", rules::kRoleSize,
      fmt::format("{}, not {}{}", role_limits(*role.kind), role.replicas, reason_why(*role.kind)));
}

void check_sizes(const Job& job, Findings& findings) {
  if (has_right_type(job) && !is_empty(job)) {
    for (const RoleKind& role : job.kind->roles) {
      if (!role.required || job.role(role.name) != nullptr) continue;
      findings.refuse(roles_path(job), rules::kRoleMissing, role_missing(role));
    }
  }
  for (const RoleSpec& role : job.roles) check_role_size(role, findings);
  const bool too_many_of_one = std::ranges::any_of(
      job.roles, [](const RoleSpec& role) { return role.replicas > kMostPods; });
  if (!too_many_of_one) check_job_size(job.total(), roles_path(job), findings);
}

std::string named_after(const Services& services) {
  return services.role.empty()
             ? std::string("Services are named after the job")
             : fmt::format("the {}'s Service is named after the job", services.role);
}

void check_name(const Job& job, Findings& findings) {
  std::vector<std::string> longest;
  for (const RoleSpec& role : job.roles) {
    if (role.replicas > 0) longest.push_back(job.pod_name(role.name, role.replicas - 1));
  }
  check_job_name(*job.object, job.has_services() ? named_after(job.kind->services) : "", longest,
                 findings);
}

void check_job_port(const Job& job, const json::Value& container, const Path& path,
                    Findings& findings) {
  const auto& name = job.kind->container.port.name;
  const auto& ports = container["ports"].as_array();
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i]["name"].as_string() != name) continue;
    const auto& protocol = ports[i]["protocol"].as_string();
    if (protocol.empty() || protocol == "TCP") continue;
    findings.refuse(
        (path / "ports")[i] / "protocol", rules::kJobPort,
        fmt::format("{} must be TCP, not {}: ranks meet over TCP", name, in_quotes(protocol)));
  }
}

}  // namespace

std::string role_missing(const RoleKind& role) {
  return fmt::format("has no {}{}{}", role.name, role.why.empty() ? "" : "; ", role.why);
}

std::string role_limits(const RoleKind& role) {
  if (role.least == role.most) return fmt::format("must be {}", role.least);
  if (role.least == 0 && role.most == 1) return "must be 0 or 1";
  if (role.most == kMostPods) return fmt::format("must be at least {}", role.least);
  return fmt::format("must be between {} and {}", role.least, role.most);
}

void check_job(const Job& job, Findings& findings) {
  check_name(job, findings);
  check_role_keys(job, findings);
  check_sizes(job, findings);
  check_min_available(job.spec()["runPolicy"]["schedulingPolicy"], job.total(),
                      Path("spec.runPolicy.schedulingPolicy"), findings);
}

void check_containers(const Job& job, const RoleSpec& role, Findings& findings) {
  const std::string_view wanted = job.kind->container.name;
  const auto& containers = role.pod()["spec"]["containers"];
  const Path list = role.path / "template" / "spec" / "containers";
  if (const auto index = find_main_container(*job.kind, role.pod())) {
    check_job_port(job, containers[*index], list[*index], findings);
    return;
  }
  std::vector<std::string> names;
  for (const auto& container : containers.as_array()) {
    const auto& name = container["name"].as_string();
    if (!name.empty()) names.push_back(in_quotes(name));
  }
  findings.refuse(list, rules::kMainContainer,
                  fmt::format("must have one named {}, found {}", wanted,
                              names.empty() ? "none with a name" : join(names, ", ")));
}

}  // namespace muster::dialects::kubeflow
