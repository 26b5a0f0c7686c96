#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dialects/template/pod_editor.h"
#include "plan/plan.h"

namespace muster::dialects {

// Labels of a role's pods. Where a value differs from rank to rank it has an Ordinal.
using Labels = std::vector<std::pair<std::string, plan::Value>>;

// Puts the labels into the template; what is ours and was written by the user is replaced, and a
// warning says so. `role` as the user spelled it.
void set_labels(const Labels& labels, std::string_view role, PodEditor& pod,
                std::vector<plan::Warning>& warnings);

}  // namespace muster::dialects
