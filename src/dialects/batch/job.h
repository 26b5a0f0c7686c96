#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/value.h"
#include "plan/plan.h"

// A Job as its dialect reads it, and what the server writes into it.
namespace muster::dialects::batch {

inline constexpr std::string_view kIndexKey = "batch.kubernetes.io/job-completion-index";
inline constexpr std::string_view kControllerUid = "batch.kubernetes.io/controller-uid";
inline constexpr std::string_view kIndexVariable = "JOB_COMPLETION_INDEX";
// Whom managedBy names when the Job is ours.
inline constexpr std::string_view kJobController = "kubernetes.io/job-controller";

struct Job {
  int parallelism = 1;
  std::optional<int> completions;  // none: a work queue
  bool indexed = false;
  bool suspended = false;
  plan::Limits limits;
};

// With the defaults of Kubernetes. Total: what has the wrong type is as if it were not there.
Job read_job(const json::Value& job);

// The labels of the pods by which the Job is known, and the selector made of them.
std::vector<std::pair<std::string, std::string>> own_labels(const std::string& name,
                                                            const std::string& uid);
json::Value selector_of(const std::string& uid);

// Fills in what the API server of Kubernetes fills in.
void set_defaults(json::Value& job);

}  // namespace muster::dialects::batch
