#pragma once

#include "dialects/kubeflow/children.h"
#include "dialects/kubeflow/job.h"
#include "dialects/template/pod_editor.h"
#include "plan/plan.h"

// The parts of a Plan that all kinds of the family have in common.
namespace muster::dialects::kubeflow {

// The template of a role with labels, policy and port, before the kind's own injections.
PodEditor edit_pod(const Job& job, const RoleSpec& role, const Labels& labels,
                   std::vector<plan::Warning>& warnings);
// A role but for its pod and what must be there first.
plan::Role make_role(const Job& job, const RoleSpec& role);
// Limits, gang, hold, selector, and warnings of what is accepted and not obeyed.
void set_run_policy(const Job& job, plan::Plan& out);

// Failure of any pod, of any role, fails the job.
void fail_on_any_role(const Job& job, plan::Plan& out);

}  // namespace muster::dialects::kubeflow
