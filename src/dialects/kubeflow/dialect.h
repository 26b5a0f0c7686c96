#pragma once

#include "dialects/check/checked_dialect.h"
#include "dialects/check/fields.h"
#include "dialects/kubeflow/children.h"
#include "dialects/kubeflow/job.h"
#include "dialects/kubeflow/kind.h"
#include "dialects/kubeflow/plan.h"
#include "dialects/kubeflow/texts.h"
#include "dialects/template/pod_editor.h"

namespace muster::dialects::kubeflow {

// All that the kinds with replica specs and a runPolicy have in common. A kind describes itself in
// a Kind, which outlives this, and overrides the few hooks below. Immutable; any thread may use it.
class Dialect : public CheckedDialect {
 public:
  explicit Dialect(const Kind& kind);

  [[nodiscard]] const plan::Identity& identity() const final { return identity_; }
  [[nodiscard]] json::Value schema() const final;
  [[nodiscard]] bool manages(const json::Value& job) const final;
  [[nodiscard]] Findings examine(const json::Value& job) const final;
  [[nodiscard]] json::Value status(const plan::Plan& plan, const json::Value& stored,
                                   const plan::Verdict& verdict, Time now) const final;
  [[nodiscard]] plan::StoredPhase phase_of(const json::Value& status) const final;
  [[nodiscard]] std::optional<plan::EventText> event_for(const plan::JobRef& job,
                                                         const plan::Note& note) const final;

 protected:
  [[nodiscard]] plan::Plan make_plan(const json::Value& job) const final;

 private:
  // Reads the kind's own fields into the common ones. Not only of valid jobs.
  virtual void refine(Job& job) const;
  // The kind's own rules, beyond its table.
  virtual void check(const Job& job, Findings& findings) const;
  // Labels beside those of the family.
  [[nodiscard]] virtual Labels own_labels(const Job& job, const RoleSpec& role) const;
  // What the pods of a role are told.
  virtual void inject(const Job& job, const RoleSpec& role, PodEditor& pod) const = 0;
  // Success, failure, tie and running.
  virtual void set_end_rules(const Job& job, plan::Plan& out) const = 0;
  // Anything else: objects, warnings.
  virtual void complete(const Job& job, plan::Plan& out) const;
  // Members of the status that only this kind has.
  virtual void add_status(const plan::Verdict& verdict, json::Value& status) const;

  [[nodiscard]] Job read(const json::Value& job) const;
  [[nodiscard]] Labels labels(const Job& job, const RoleSpec& role) const;
  void check_template(const Job& job, const RoleSpec& role, Findings& findings) const;

  const Kind& kind_;
  plan::Identity identity_;
  Texts texts_;
  FieldTable job_table_;
  FieldTable pod_table_;
};

}  // namespace muster::dialects::kubeflow
