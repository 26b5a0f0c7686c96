#pragma once

#include <string_view>

#include "dialects/template/labels.h"
#include "plan/plan.h"

namespace muster::dialects::t9k {

// What the pods of every T9k kind carry. `pod` is the name of the pod.
Labels pod_labels(const plan::JobRef& job, std::string_view role, const plan::Value& pod,
                  const plan::Value& index);

}  // namespace muster::dialects::t9k
