#pragma once

#include "dialects/fields.h"
#include "dialects/mindspore_spec.h"
#include "json/value.h"
#include "plan/plan.h"

namespace muster::dialects::mindspore {

// The Plan of a job that is valid; `unknown` are the sentences on fields that we do not know.
plan::Plan make_plan(const json::Value& job, const Spec& spec,
                     const std::vector<std::string>& unknown);

plan::JobRef job_ref(const json::Value& job);

// The labels that the pods of a role and its Service carry; they are its selector too.
// The index is left out where it differs from pod to pod.
json::Object child_labels(const std::string& job, RoleName role);

}  // namespace muster::dialects::mindspore
