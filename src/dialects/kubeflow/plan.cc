#include "dialects/mindspore_plan.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"
#include "dialects/mindspore_fields.h"
#include "dialects/mindspore_pod.h"

namespace muster::dialects::mindspore {
namespace {

constexpr std::array<std::string_view, 2> kIndexLabels = {"training.kubeflow.org/replica-index",
                                                          "replica-index"};

std::string label_name(RoleName role) {
  return to_lower(to_string(role));
}

std::string service_name(const std::string& job) {
  return job + "-scheduler-0";
}

plan::KubeletRestart kubelet_restart(RestartPolicy policy) {
  switch (policy) {
    case RestartPolicy::Always:
      return plan::KubeletRestart::Always;
    case RestartPolicy::OnFailure:
      return plan::KubeletRestart::OnFailure;
    case RestartPolicy::Never:
    case RestartPolicy::ExitCode:
      break;
  }
  return plan::KubeletRestart::Never;
}

std::string_view pod_restart_policy(RestartPolicy policy) {
  return policy == RestartPolicy::ExitCode ? "Never" : to_string(policy);
}

// Metadata of a template is labels, annotations and finalizers; what belongs to one stored object
// would make the server refuse or mislead it.
void clean_metadata(json::Value& metadata) {
  for (const std::string_view member :
       {"name", "generateName", "namespace", "uid", "resourceVersion", "generation", "selfLink",
        "creationTimestamp", "deletionTimestamp", "ownerReferences", "managedFields"}) {
    metadata.object().erase(member);
  }
}

void set_labels(json::Value& metadata, const RoleSpec& role, const std::string& job,
                std::vector<plan::Warning>& warnings) {
  auto& labels = metadata["labels"].object();
  const auto overwrite = [&](const std::string& key) {
    warnings.push_back({.reason = "ReservedLabel",
                        .message = fmt::format("{}: the label {} in the template is ours and was "
                                               "replaced",
                                               role.key, printable(key))});
  };
  std::vector<std::string> ours;
  for (const auto& [key, value] : labels) {
    if (key.starts_with("muster.dev/")) ours.push_back(key);
  }
  for (const auto& key : ours) {
    labels.erase(key);
    overwrite(key);
  }
  for (const auto index : kIndexLabels) {
    if (labels.erase(index)) overwrite(std::string(index));
  }
  for (const auto& [key, value] : child_labels(job, role.name)) {
    const auto* written = labels.find(key);
    if (written != nullptr && !(*written == value)) overwrite(key);
    labels.set(key, value);
  }
}

void set_restart_policy(json::Value& pod, const RoleSpec& role,
                        std::vector<plan::Warning>& warnings) {
  const auto policy = pod_restart_policy(role.restart);
  const std::string written = pod["spec"]["restartPolicy"].as_string();
  if (!written.empty() && written != policy) {
    warnings.push_back(
        {.reason = "SettedPodTemplateRestartPolicy",
         .message = fmt::format("{}: restartPolicy {} of the pod template was replaced by {}; the "
                                "policy of the role, {}, decides",
                                role.key, written, policy, to_string(role.restart))});
  }
  pod["spec"]["restartPolicy"] = policy;
}

plan::Role make_role(const json::Value& job, const RoleSpec& role,
                     const std::optional<Rendezvous>& rendezvous,
                     std::vector<plan::Warning>& warnings) {
  plan::Role out;
  out.name = to_string(role.name);
  out.label_name = label_name(role.name);
  out.replicas = role.replicas;
  out.index_labels = {kIndexLabels.begin(), kIndexLabels.end()};
  out.main_container = kContainer;
  out.kubelet_restart = kubelet_restart(role.restart);
  out.on_failed = role.restart == RestartPolicy::ExitCode ? plan::OnFailedPod::RecreateIfRetryable
                                                          : plan::OnFailedPod::Fail;
  out.counts_restarts = role.restart != RestartPolicy::Never;
  out.pod = *role.pod;
  auto& metadata = out.pod["metadata"];
  clean_metadata(metadata);
  set_labels(metadata, role, api::name_of(job), warnings);
  const auto& environment = api::annotation_of(job, plan::kEnvironmentAnnotation);
  if (!environment.empty()) {
    metadata["annotations"].object().set(plan::kEnvironmentAnnotation, environment);
  }
  set_restart_policy(out.pod, role, warnings);
  add_job_port(out.pod);
  if (rendezvous) {
    // No pod before the Service has an address: one without MS_* could never join (MS-5).
    out.after = {rendezvous->service};
    inject_environment(out.pod, role.name, *rendezvous, out.late);
  }
  return out;
}

std::int64_t job_port(const json::Array& ports) {
  const auto found = std::ranges::find_if(
      ports, [](const json::Value& port) { return port["name"].as_string() == kPortName; });
  return found == ports.end() ? kDefaultPort : (*found)["containerPort"].as_int();
}

// One Service port for each port of the container. Several ports need names, and no two may have
// the same number and protocol.
json::Array service_ports(const json::Array& ports) {
  json::Array out;
  std::set<std::pair<std::int64_t, std::string>> seen;
  for (const auto& port : ports) {
    const auto number = port["containerPort"].as_int();
    const auto& protocol = port["protocol"].as_string();
    if (!seen.emplace(number, protocol.empty() ? "TCP" : protocol).second) continue;
    const auto& name = port["name"].as_string();
    json::Object entry{{"name", name.empty() ? fmt::format("port-{}", number) : name},
                       {"port", number}};
    if (!protocol.empty()) entry.set("protocol", protocol);
    out.emplace_back(std::move(entry));
  }
  return out;
}

plan::Object make_service(const std::string& job, const json::Array& ports) {
  json::Object labels = child_labels(job, RoleName::Scheduler);
  for (const auto index : kIndexLabels) labels.set(index, "0");
  const auto name = service_name(job);
  return {.resource = api::services(),
          .name = name,
          .body = json::Object{{"apiVersion", "v1"},
                               {"kind", "Service"},
                               {"metadata", json::Object{{"name", name}, {"labels", labels}}},
                               {"spec", json::Object{{"type", "ClusterIP"},
                                                     {"selector", labels},
                                                     {"ports", service_ports(ports)}}}},
          .role = std::string(to_string(RoleName::Scheduler))};
}

void set_end_rules(plan::Plan& out, const Spec& spec) {
  using Quorum = plan::RankSet::Quorum;
  using Outcome = plan::RankSet::Outcome;
  const std::string worker(to_string(RoleName::Worker));
  if (!spec.all_workers) {
    out.success.push_back({worker, Quorum::Index, 0, Outcome::Succeeded});
  }
  out.success.push_back({worker, Quorum::All, 0, Outcome::Succeeded});
  for (const auto& role : spec.roles) {
    if (role.name == RoleName::Worker && spec.dynamic_workers) continue;
    out.failure.push_back({std::string(to_string(role.name)), Quorum::AtLeast, 1, Outcome::Failed});
  }
  out.tie = spec.all_workers ? plan::Tie::FailureWins : plan::Tie::SuccessWins;
  if (spec.dynamic_workers) {
    // Ends the job when no Worker is left that could succeed. All of them having succeeded
    // satisfies this too, so success has to win.
    out.failure.push_back({worker, Quorum::All, 0, Outcome::Finished});
    out.tie = plan::Tie::SuccessWins;
  }
}

void warn_of_mode(plan::Plan& out, const Spec& spec) {
  if (spec.has_scheduler()) return;
  const int others = spec.replicas(RoleName::PS) + spec.replicas(RoleName::Worker);
  if (others < 2) return;
  out.warnings.push_back(
      {.reason = "NoScheduler",
       .message = fmt::format("{} ranks but no Scheduler: no MS_* variables are set, so the ranks "
                              "cannot find each other; add the role Scheduler",
                              others)});
}

}  // namespace

json::Object child_labels(const std::string& job, RoleName role) {
  const auto type = label_name(role);
  return {{"training.kubeflow.org/operator-name", identity().controller_name},
          {"group-name", identity().resource.group},
          {"training.kubeflow.org/job-name", job},
          {"job-name", job},
          {"training.kubeflow.org/replica-type", type},
          {"replica-type", type}};
}

plan::JobRef job_ref(const json::Value& job) {
  return {.resource = identity().resource,
          .ns = api::namespace_of(job),
          .name = api::name_of(job),
          .uid = api::uid_of(job),
          .generation = api::generation_of(job)};
}

plan::Plan make_plan(const json::Value& job, const Spec& spec,
                     const std::vector<std::string>& unknown) {
  plan::Plan out;
  out.job = job_ref(job);
  std::optional<Rendezvous> rendezvous;
  if (spec.has_scheduler()) {
    json::Value scheduler = *spec.role(RoleName::Scheduler)->pod;
    add_job_port(scheduler);
    const auto& ports = container_ports(scheduler);
    out.objects.push_back(make_service(out.job.name, ports));
    rendezvous = {.service = service_name(out.job.name),
                  .port = job_port(ports),
                  .servers = spec.replicas(RoleName::PS),
                  .workers = spec.replicas(RoleName::Worker)};
  }
  for (const auto& role : spec.roles) {
    out.roles.push_back(make_role(job, role, rendezvous, out.warnings));
  }
  set_end_rules(out, spec);
  out.limits = spec.limits;
  out.on_end = spec.clean_up;
  // A limit is there to stop a job: its pods never go on running (MS-10).
  out.on_limit = spec.clean_up == plan::CleanUp::None ? plan::CleanUp::Running : spec.clean_up;
  out.running_role = to_string(RoleName::Worker);
  out.gang = {.minimum = spec.min_available.value_or(spec.total()),
              .queue = spec.queue,
              .priority_class = spec.priority_class,
              .min_resources = spec.min_resources};
  warn_of_mode(out, spec);
  for (const auto& sentence : unknown) {
    out.warnings.push_back({.reason = "UnknownField", .message = sentence});
  }
  return out;
}

}  // namespace muster::dialects::mindspore
