#include "dialects/kubeflow/plan.h"

#include <array>

#include <fmt/format.h>

#include "api/object.h"
#include "base/strings.h"

namespace muster::dialects::kubeflow {
namespace {

std::string_view pod_restart_policy(RestartPolicy policy) {
  return policy == RestartPolicy::ExitCode ? "Never" : to_string(policy);
}

plan::Retry retry_of(const Kind& kind, RestartPolicy policy) {
  using On = plan::Retry::On;
  switch (policy) {
    case RestartPolicy::Never:
      return {.on = On::Never};
    case RestartPolicy::OnFailure:
    case RestartPolicy::Always:
      return {.on = On::Disruption};
    case RestartPolicy::ExitCode:
      break;
  }
  return {
      .on = On::RetryableCode, .codes = kind.retryable, .without_code = kind.retry_without_code};
}

void set_restart_policy(const Job& job, const RoleSpec& role, PodEditor& pod,
                        std::vector<plan::Warning>& warnings) {
  const auto policy = pod_restart_policy(role.restart);
  const std::string written = pod.pod()["spec"]["restartPolicy"].as_string();
  if (!job.kind->restart_in_template && !written.empty() && written != policy) {
    const std::string& path = role.path.text();
    warnings.push_back(
        {.reason = "SettedPodTemplateRestartPolicy",
         .message = fmt::format("{}: restartPolicy {} of the pod template was replaced by {}; the "
                                "policy of the role, {}, decides",
                                path.substr(path.rfind('.') + 1), written, policy,
                                to_string(role.restart))});
  }
  pod.spec()["restartPolicy"] = policy;
}

// What a job may say and nothing obeys yet, and what to do instead.
struct NotObeyed {
  std::string_view field;
  std::string_view instead;
};

constexpr auto kNotObeyed = std::to_array<NotObeyed>({
    {"queue",
     "put the queue label of your cluster, such as kueue.x-k8s.io/queue-name, on the pod "
     "templates"},
    {"priorityClass", "set priorityClassName in the pod templates"},
    {"minResources", "the gang is counted in pods; set minAvailable"},
});

bool says_something(const json::Value& value) {
  return !value.as_string().empty() || !value.as_object().empty();
}

}  // namespace

PodEditor edit_pod(const Job& job, const RoleSpec& role, const Labels& labels,
                   std::vector<plan::Warning>& warnings) {
  PodEditor pod(role.pod());
  set_labels(labels, role, pod, warnings);
  const auto& environment = api::annotation_of(*job.object, plan::kEnvironmentAnnotation);
  if (!environment.empty()) pod.set_annotation(plan::kEnvironmentAnnotation, environment);
  set_restart_policy(job, role, pod, warnings);
  pod.add_port(job.main_container(role), job.kind->container.port.name, job.default_port);
  return pod;
}

plan::Role make_role(const Job& job, const RoleSpec& role) {
  plan::Role out;
  out.name = role.name;
  out.replicas = role.replicas;
  out.pod_name = {.stem = fmt::format("{}-{}", job.ref.name, to_lower(role.name))};
  const auto& container = role.pod()["spec"]["containers"][job.main_container(role)];
  out.main_container = container["name"].as_string();
  out.retry = retry_of(*job.kind, role.restart);
  out.on_success = job.clean_up;
  out.on_failure = job.clean_up;
  // A limit is there to stop a job: its pods never go on running.
  out.on_limit = job.clean_up == plan::CleanUp::None ? plan::CleanUp::Running : job.clean_up;
  return out;
}

void set_run_policy(const Job& job, plan::Plan& out) {
  out.limits = job.limits;
  out.gang = {.minimum = job.min_available.value_or(job.total())};
  out.hold = job.suspended;
  if (job.suspended) out.run_key = "suspended";
  if (!job.kind->scales.empty()) out.selector = scale_selector(job);
  const auto& scheduling = job.spec()["runPolicy"]["schedulingPolicy"];
  for (const auto& [field, instead] : kNotObeyed) {
    if (!says_something(scheduling[field])) continue;
    out.warnings.push_back(
        {.reason = "NotObeyed",
         .message = fmt::format("spec.runPolicy.schedulingPolicy.{}: not obeyed yet; {}", field,
                                instead)});
  }
}

void fail_on_any_role(const Job& job, plan::Plan& out) {
  for (const RoleSpec& role : job.roles) {
    out.failure.push_back(plan::any_of(role.name, plan::RankSet::Outcome::Failed));
  }
}

}  // namespace muster::dialects::kubeflow
