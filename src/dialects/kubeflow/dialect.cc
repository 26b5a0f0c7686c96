#include "dialects/kubeflow/dialect.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "dialects/check/pod_template.h"
#include "dialects/kubeflow/events.h"
#include "dialects/kubeflow/fields.h"
#include "dialects/kubeflow/rules.h"
#include "dialects/kubeflow/status.h"

namespace muster::dialects::kubeflow {
namespace {

constexpr std::string_view kKubeflow = "kubeflow.org";
// Whom managedBy names where the Kubeflow operators ran before.
constexpr std::string_view kTrainingOperator = "kubeflow.org/training-operator";

plan::Identity identity_of(const Kind& kind) {
  plan::Identity out{.resource = {.group = std::string(kind.group),
                                  .version = std::string(kind.version),
                                  .plural = std::string(kind.plural),
                                  .kind = std::string(kind.name),
                                  .scope = api::Scope::Namespaced},
                     .singular = to_lower(kind.name),
                     .short_names = kind.short_names,
                     .categories = {"training", "all"},
                     .controller_name = kind.controller.empty()
                                            ? to_lower(kind.name) + "-controller"
                                            : std::string(kind.controller),
                     .framework = std::string(kind.framework),
                     .foreign_lease = std::string(kind.foreign_lease),
                     .children = {api::services()},
                     // The last condition is always the current state: that is what `[-1:]` shows.
                     .columns = {{"State", ".status.conditions[-1:].type", "string"},
                                 {"Ranks", ".status.muster.ranks", "string"},
                                 {"Restarts", ".status.muster.restartCount", "integer"},
                                 {"Reason", ".status.conditions[-1:].reason", "string", 1},
                                 {"Queue", ".spec.runPolicy.schedulingPolicy.queue", "string", 1}},
                     .suspend_path = "spec.runPolicy.suspend"};
  if (!kind.scales.empty()) {
    out.scale_spec_path = fmt::format(".spec.{}.{}.replicas", kind.replicas.field, kind.scales);
    out.scale_status_path = fmt::format(".status.replicaStatuses.{}.active", kind.scales);
  }
  return out;
}

// Whether the kind has a Service for that role, or for each of its ranks.
bool has_service(const Kind& kind, const RoleSpec& role) {
  if (role.replicas == 0) return false;
  return kind.services.role.empty() || kind.services.role == role.name;
}

}  // namespace

Dialect::Dialect(const Kind& kind)
    : kind_(kind),
      identity_(identity_of(kind)),
      texts_(std::string(kind.name)),
      job_table_(job_fields(kind)),
      pod_table_(pod_template_fields()) {}

json::Value Dialect::schema() const {
  return job_schema(kind_);
}

bool Dialect::manages(const json::Value& job) const {
  const std::string& by = job["spec"]["runPolicy"]["managedBy"].as_string();
  if (by.empty() || by == plan::kManagedBy) return true;
  return kind_.group == kKubeflow && by == kTrainingOperator;
}

Job Dialect::read(const json::Value& job) const {
  Job out = decode(kind_, identity_.resource, job);
  refine(out);
  return out;
}

Findings Dialect::examine(const json::Value& job) const {
  Findings findings;
  job_table_.check(job, Path(), findings);
  const Job decoded = read(job);
  check_job(decoded, findings);
  for (const RoleSpec& role : decoded.roles) check_template(decoded, role, findings);
  check(decoded, findings);
  return findings;
}

void Dialect::check_template(const Job& job, const RoleSpec& role, Findings& findings) const {
  const std::string needs =
      fmt::format("{} needs a container named {}", role.name, kind_.container.name);
  if (dialects::check_template(pod_table_, *role.spec, role.path, needs, findings)) {
    check_containers(job, role, findings);
  }
}

Labels Dialect::labels(const Job& job, const RoleSpec& role) const {
  Labels all = family_labels(job, role, identity_.controller_name);
  for (auto& label : own_labels(job, role)) all.push_back(std::move(label));
  return all;
}

plan::Plan Dialect::make_plan(const json::Value& job) const {
  const Job decoded = read(job);
  plan::Plan out;
  out.job = decoded.ref;
  for (const RoleSpec& role : decoded.roles) {
    const Labels all_labels = labels(decoded, role);
    PodEditor pod = edit_pod(decoded, role, all_labels, out.warnings);
    if (has_service(kind_, role)) {
      out.objects.push_back(make_service(decoded, role, all_labels, pod.pod()));
    }
    inject(decoded, role, pod);
    plan::Role made = make_role(decoded, role);
    made.values = pod.take_values();
    made.pod = pod.take_pod();
    out.roles.push_back(std::move(made));
  }
  // A Service at which all ranks meet has to be there first: a pod without its address could never
  // join.
  if (!kind_.services.role.empty() && !out.objects.empty()) {
    for (plan::Role& role : out.roles) role.after = {out.objects.front().id};
  }
  set_end_rules(decoded, out);
  set_run_policy(decoded, out);
  complete(decoded, out);
  return out;
}

json::Value Dialect::status(const plan::Plan& plan, const json::Value& stored,
                            const plan::Verdict& verdict, Time now) const {
  json::Value out = make_status(texts_, plan, stored, verdict, now);
  add_status(verdict, out);
  return out;
}

plan::StoredPhase Dialect::phase_of(const json::Value& status) const {
  return kubeflow::phase_of(status);
}

std::optional<plan::EventText> Dialect::event_for(const plan::JobRef& job,
                                                  const plan::Note& note) const {
  return kubeflow::event_for(texts_, job, note);
}

void Dialect::refine(Job& /*job*/) const {}
void Dialect::check(const Job& /*job*/, Findings& /*findings*/) const {}
Labels Dialect::own_labels(const Job& /*job*/, const RoleSpec& /*role*/) const {
  return {};
}
void Dialect::complete(const Job& /*job*/, plan::Plan& /*out*/) const {}
void Dialect::add_status(const plan::Verdict& /*verdict*/, json::Value& /*status*/) const {}

}  // namespace muster::dialects::kubeflow
