#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dialects/kubeflow/job.h"
#include "dialects/template/pod_editor.h"
#include "plan/plan.h"

// Labels and Services of the pods of a job.
namespace muster::dialects::kubeflow {

// The labels of a role's pods and Services, which are the Services' selector too. Where a value
// differs from rank to rank it has an Ordinal.
using Labels = std::vector<std::pair<std::string, plan::Value>>;

// Those that every kind has.
Labels family_labels(const Job& job, const RoleSpec& role, std::string_view controller);
// Of the pods that the scale subresource counts.
std::string scale_selector(const Job& job);

// Puts the labels into the template; what is ours and was written by the user is replaced.
void set_labels(const Labels& labels, const RoleSpec& role, PodEditor& pod,
                std::vector<plan::Warning>& warnings);

// The Service of rank 0 of the role, or one for each rank, as the kind has it. `pod` is the
// template with all ports.
plan::Object make_service(const Job& job, const RoleSpec& role, const Labels& labels,
                          const json::Value& pod);

}  // namespace muster::dialects::kubeflow
