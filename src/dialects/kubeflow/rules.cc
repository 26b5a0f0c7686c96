#include "dialects/mindspore_validate.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/names.h"
#include "api/object.h"
#include "base/strings.h"
#include "dialects/mindspore_fields.h"
#include "dialects/mindspore_spec.h"
#include "dialects/pod_template.h"

namespace muster::dialects::mindspore {
namespace {

Path roles_path() {
  return Path("spec.msReplicaSpecs");
}

void check_role_keys(const json::Value& roles, Findings& findings) {
  if (roles.is_object() && roles.as_object().empty()) {
    findings.refuse(roles_path(), rules::kSomeRole,
                    "is empty; a job needs at least the role Worker");
  }
  std::map<RoleName, std::string> seen;
  for (const auto& [key, role] : roles.as_object()) {
    const auto name = parse_role(key);
    if (!name) {
      findings.refuse(
          roles_path() / key, rules::kRoleKey,
          fmt::format("{} is not a role; the roles are Scheduler, PS and Worker{}", in_quotes(key),
                      did_you_mean(key, {"Scheduler", "PS", "Worker"})));
      continue;
    }
    const auto [first, fresh] = seen.try_emplace(*name, key);
    if (!fresh) {
      findings.refuse(roles_path() / key, rules::kSameRole,
                      fmt::format("is the same role as {}; keep one of the two", first->second));
    }
  }
}

void check_replicas(const Spec& spec, const json::Value& roles, Findings& findings) {
  const auto* scheduler = spec.role(RoleName::Scheduler);
  if (scheduler != nullptr && scheduler->replicas > 1) {
    findings.refuse(roles_path() / scheduler->key / "replicas", rules::kOneScheduler,
                    fmt::format("must be 0 or 1, not {}: all ranks meet at one Scheduler",
                                scheduler->replicas));
  }
  const auto* worker = spec.role(RoleName::Worker);
  if (worker == nullptr && roles.is_object() && !roles.as_object().empty()) {
    findings.refuse(roles_path(), rules::kSomeWorker,
                    "has no Worker; without one the job could never succeed");
  } else if (worker != nullptr && roles[worker->key]["replicas"] == json::Value(0)) {
    findings.refuse(roles_path() / worker->key / "replicas", rules::kSomeWorker,
                    "must be at least 1, not 0: without a Worker the job could never succeed");
  }
  const bool too_many_of_one = std::ranges::any_of(
      spec.roles, [](const RoleSpec& role) { return role.replicas > kMostReplicas; });
  if (spec.total() > kMostReplicas && !too_many_of_one) {
    findings.refuse(roles_path(), rules::kJobSize,
                    fmt::format("asks for {} pods in all; at most {} are allowed", spec.total(),
                                kMostReplicas));
  }
}

void check_gang(const Spec& spec, Findings& findings) {
  if (!spec.min_available || *spec.min_available <= spec.total()) return;
  findings.refuse(Path("spec.runPolicy.schedulingPolicy.minAvailable"), rules::kMinAvailable,
                  fmt::format("must be between 0 and {}, the number of pods of the job, not {}",
                              spec.total(), *spec.min_available));
}

// Pods carry the job's name in labels and as host name; with a Scheduler it also names a Service,
// whose names are stricter.
void check_name(const json::Value& job, const Spec& spec, Findings& findings) {
  const auto& name = api::name_of(job);
  const Path path("metadata.name");
  if (name.empty()) {
    if (job["metadata"]["generateName"].as_string().empty()) {
      findings.refuse(path, dialects::rules::kRequired, "is required");
    }
    return;
  }
  const auto wrong =
      spec.has_scheduler() ? api::check_service_name(name) : api::check_dns_subdomain(name);
  if (wrong) {
    findings.refuse(path, rules::kJobName,
                    spec.has_scheduler()
                        ? fmt::format("{}: {} (the Scheduler's Service is named after the job)",
                                      in_quotes(name), *wrong)
                        : fmt::format("{}: {}", in_quotes(name), *wrong));
    return;
  }
  for (const auto& role : spec.roles) {
    if (role.replicas < 1) continue;
    constexpr std::size_t kLongest = 63;
    const auto suffix = fmt::format("-{}-{}", to_lower(to_string(role.name)), role.replicas - 1);
    if (name.size() + suffix.size() <= kLongest) continue;
    findings.refuse(
        path, rules::kNameLength,
        fmt::format("has {} characters; at most {} are possible, because {}{} would be "
                    "longer than the 63 of a host name",
                    name.size(), kLongest - std::min(kLongest, suffix.size()), name, suffix));
    return;
  }
}

void check_job_port(const json::Value& container, const Path& path, Findings& findings) {
  const auto& ports = container["ports"].as_array();
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i]["name"].as_string() != kPortName) continue;
    const auto& protocol = ports[i]["protocol"].as_string();
    if (protocol.empty() || protocol == "TCP") continue;
    findings.refuse(
        (path / "ports")[i] / "protocol", rules::kJobPort,
        fmt::format("{} must be TCP, not {}: ranks meet over TCP", kPortName, in_quotes(protocol)));
  }
}

void check_containers(const RoleSpec& role, const Path& path, Findings& findings) {
  const auto& containers = (*role.pod)["spec"]["containers"];
  const Path list = path / "spec" / "containers";
  if (containers.is_null() || (containers.is_array() && containers.as_array().empty())) {
    findings.refuse(list, rules::kSomeContainer,
                    fmt::format("is required: {} needs a container named {}", to_string(role.name),
                                kContainer));
    return;
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < containers.as_array().size(); ++i) {
    const auto& name = containers[i]["name"].as_string();
    if (name == kContainer) {
      check_job_port(containers[i], list[i], findings);
      return;
    }
    if (!name.empty()) names.push_back(in_quotes(name));
  }
  if (!containers.is_array()) return;
  findings.refuse(list, rules::kMainContainer,
                  fmt::format("must have one named {}, found {}", kContainer,
                              names.empty() ? "none with a name" : join(names, ", ")));
}

}  // namespace

Validator::Validator() : job_table_(job_fields()), pod_table_(pod_template_fields()) {}

Findings Validator::check(const json::Value& job) const {
  Findings findings;
  job_table_.check(job, Path(), findings);
  const auto& roles = job["spec"]["msReplicaSpecs"];
  const Spec spec = decode(job);
  check_name(job, spec, findings);
  check_role_keys(roles, findings);
  check_replicas(spec, roles, findings);
  check_gang(spec, findings);
  for (const auto& role : spec.roles) {
    const json::Value& pod = *role.pod;
    const Path path = roles_path() / role.key / "template";
    // What has the wrong type was refused by the table; looking into it would only repeat that.
    if (!roles[role.key].is_null() && !roles[role.key].is_object()) continue;
    if (!pod.is_null() && !pod.is_object()) continue;
    pod_table_.check(pod, path, findings);
    if (!pod["spec"].is_null() && !pod["spec"].is_object()) continue;
    check_containers(role, path, findings);
    check_pod_template(pod, path, findings);
  }
  return findings;
}

}  // namespace muster::dialects::mindspore
