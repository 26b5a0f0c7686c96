#include "dialects/kubeflow/plan.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "dialects/check/scheduling.h"

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

}  // namespace

PodEditor edit_pod(const Job& job, const RoleSpec& role, const Labels& labels,
                   std::vector<plan::Warning>& warnings) {
  PodEditor pod(role.pod());
  const std::string& path = role.path.text();
  set_labels(labels, path.substr(path.rfind('.') + 1), pod, warnings);
  pod.pass_environment(*job.object);
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
  warn_of_scheduling(job.spec()["runPolicy"]["schedulingPolicy"],
                     Path("spec.runPolicy.schedulingPolicy"), out.warnings);
}

void fail_on_any_role(const Job& job, plan::Plan& out) {
  for (const RoleSpec& role : job.roles) {
    out.failure.push_back(plan::any_of(role.name, plan::RankSet::Outcome::Failed));
  }
}

}  // namespace muster::dialects::kubeflow
