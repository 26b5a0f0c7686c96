// batch/v1 Job on the embedded cluster: pods that run to completion, several at once if asked.
// Real clusters have a controller of their own for it; this one does what that one does.
#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "dialects/batch/fields.h"
#include "dialects/batch/job.h"
#include "dialects/batch/rules.h"
#include "dialects/batch/status.h"
#include "dialects/check/checked_dialect.h"
#include "dialects/check/pod_template.h"
#include "dialects/kinds.h"
#include "dialects/template/pod_editor.h"

namespace muster::dialects {
namespace {

using namespace batch;
using plan::RankSet;

// Longer names are cut, so that with a suffix of six they fit a label.
constexpr std::size_t kLongestStem = 57;

plan::Identity make_identity() {
  return {.resource = {.group = "batch",
                       .version = "v1",
                       .plural = "jobs",
                       .kind = "Job",
                       .scope = api::Scope::Namespaced},
          .singular = "job",
          .categories = {"all"},
          .controller_name = "job-controller",
          .framework = "batch",
          .columns = {{"Status", "", "string"},
                      {"Completions", "", "string"},
                      {"Duration", "", "string"}},
          .embedded_only = true,
          .uid_label = std::string(kControllerUid),
          .suspend_path = "spec.suspend"};
}

// STEM-xxxxx, or with an index STEM-INDEX-xxxxx.
plan::NameRule name_rule(const plan::JobRef& job, const Job& read) {
  const std::size_t index = read.indexed ? fmt::to_string(*read.completions).size() + 1 : 0;
  return {.stem = job.name.substr(0, kLongestStem - index),
          .index = read.indexed,
          .salt = job.uid.empty() ? job.name : job.uid};
}

// In all containers, those that come first too, unless they say it themselves.
void add_index_variable(json::Value& spec) {
  for (const std::string_view list : {"initContainers", "containers"}) {
    if (!std::as_const(spec)[list].is_array()) continue;
    for (json::Value& container : spec[list].array()) {
      json::Array& variables = container["env"].array();
      if (api::find_named(container["env"], kIndexVariable) != nullptr) continue;
      const json::Object field{{"apiVersion", "v1"},
                               {"fieldPath", fmt::format("metadata.labels['{}']", kIndexKey)}};
      variables.emplace_back(
          json::Object{{"name", kIndexVariable}, {"valueFrom", json::Object{{"fieldRef", field}}}});
    }
  }
}

void add_index(const plan::JobRef& job, PodEditor& pod, std::vector<plan::Placed>& values) {
  add_index_variable(pod.spec());
  const plan::Ordinal index;
  pod.set_label(kIndexKey, {index});
  pod.set_annotation(kIndexKey, "");
  values.push_back({.path = {"metadata", "annotations", std::string(kIndexKey)}, .value = {index}});
  values.push_back({.path = {"spec", "hostname"}, .value = {job.name + "-", index}});
}

class BatchJob final : public CheckedDialect {
 public:
  BatchJob() : identity_(make_identity()), table_(job_fields()) {}

  [[nodiscard]] const plan::Identity& identity() const override { return identity_; }
  [[nodiscard]] json::Value schema() const override { return job_schema(); }

  [[nodiscard]] bool manages(const json::Value& job) const override {
    const std::string& by = job["spec"]["managedBy"].as_string();
    return by.empty() || by == kJobController;
  }

  [[nodiscard]] Findings examine(const json::Value& job) const override {
    Findings findings;
    table_.check(job, Path(), findings);
    check_job(job, findings);
    if (job["spec"]["template"]["spec"].is_object())
      check_pod_template(job["spec"]["template"], Path("spec.template"), findings);
    return findings;
  }

  void set_defaults(json::Value& job) const override { batch::set_defaults(job); }

  [[nodiscard]] std::vector<FieldCause> validate_update(const json::Value& old,
                                                        const json::Value& job) const override {
    Findings findings;
    check_update(old, job, findings);
    std::vector<FieldCause> causes;
    for (const Violation& violation : findings.violations) causes.push_back(violation.cause());
    return causes;
  }

  [[nodiscard]] json::Value status(const plan::Plan& plan, const json::Value& stored,
                                   const plan::Verdict& verdict, Time now) const override {
    const bool indexed = !plan.roles.empty() && plan.roles.front().pod_name.index;
    return make_status(plan, {.indexed = indexed}, stored, verdict, now);
  }

  [[nodiscard]] plan::StoredPhase phase_of(const json::Value& status) const override {
    return batch::phase_of(status);
  }

  [[nodiscard]] std::optional<plan::EventText> event_for(const plan::JobRef& /*job*/,
                                                         const plan::Note& note) const override {
    return batch::event_for(note);
  }

  [[nodiscard]] std::string cell(const json::Value& job, std::string_view column,
                                 Time now) const override {
    return batch::cell(job, column, now);
  }

 private:
  [[nodiscard]] plan::Plan make_plan(const json::Value& job) const override {
    const Job read = read_job(job);
    const std::string role(kRole);
    plan::Plan out;
    out.job = plan::job_ref(identity_.resource, job);
    out.roles.push_back(make_role(out.job, read, job));
    out.success = {read.completions ? plan::all_of(role, RankSet::Outcome::Succeeded)
                                    : plan::any_and_none_left(role, RankSet::Outcome::Succeeded)};
    out.tie = plan::Tie::LimitsWin;
    out.running = plan::any_of(role, RankSet::Outcome::Running);
    out.limits = read.limits;
    out.backoff_counts = plan::BackoffCounts::FailedPods;
    out.hold = read.suspended;
    if (read.suspended) out.run_key = "suspended";
    return out;
  }

  [[nodiscard]] static plan::Role make_role(const plan::JobRef& ref, const Job& read,
                                            const json::Value& job) {
    plan::Role out;
    out.name = kRole;
    out.replicas = read.completions.value_or(read.parallelism);
    out.max_active = read.parallelism;
    out.completion = read.completions ? plan::Completion::ForGood : plan::Completion::WorkQueue;
    out.pod_name = name_rule(ref, read);
    out.retry = {
        .on = plan::Retry::On::AnyFailure, .keep_failed = true, .pause = plan::Retry::Pause::Role};
    PodEditor pod(job["spec"]["template"]);
    for (auto& [key, value] : own_labels(ref.name, ref.uid)) pod.set_label(key, {value});
    const auto& environment = api::annotation_of(job, plan::kEnvironmentAnnotation);
    if (!environment.empty()) pod.set_annotation(plan::kEnvironmentAnnotation, environment);
    if (read.indexed) add_index(ref, pod, out.values);
    for (plan::Placed& placed : pod.take_values()) out.values.push_back(std::move(placed));
    const json::Array& containers = pod.pod()["spec"]["containers"].as_array();
    // Of several containers none speaks for the pod.
    if (containers.size() == 1) out.main_container = containers[0]["name"].as_string();
    out.pod = pod.take_pod();
    return out;
  }

  plan::Identity identity_;
  FieldTable table_;
};

}  // namespace

std::unique_ptr<const plan::Dialect> make_batch_job() {
  return std::make_unique<BatchJob>();
}

}  // namespace muster::dialects
