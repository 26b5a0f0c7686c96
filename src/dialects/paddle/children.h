#pragma once

#include <vector>

#include "dialects/paddle/job.h"
#include "plan/plan.h"

// Pods, Services and the ConfigMap of a PaddleJob.
namespace muster::dialects::paddle {

// The template of a role, with all that its ranks are told, and when it is retried and cleaned up.
plan::Role make_role(const Job& job, const RoleSpec& role, std::vector<plan::Warning>& warnings);

// One for each rank of the role, without an address of its own: its name leads to the pod.
plan::Object make_service(const Job& job, const RoleSpec& role);

// Who takes part and where. Containers wait for it, so nobody starts before all have an address.
plan::Object make_config(const Job& job);

}  // namespace muster::dialects::paddle
