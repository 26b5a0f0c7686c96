#pragma once

#include <string>

#include "dialects/kubeflow/job.h"
#include "dialects/template/labels.h"
#include "plan/plan.h"

// Labels and Services of the pods of a job.
namespace muster::dialects::kubeflow {

// Those that every kind has. They are the Services' selector too.
Labels family_labels(const Job& job, const RoleSpec& role, std::string_view controller);
// Of the pods that the scale subresource counts.
std::string scale_selector(const Job& job);

// The Service of rank 0 of the role, or one for each rank, as the kind has it. `pod` is the
// template with all ports.
plan::Object make_service(const Job& job, const RoleSpec& role, const Labels& labels,
                          const json::Value& pod);

}  // namespace muster::dialects::kubeflow
