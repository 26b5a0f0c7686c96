#pragma once

#include <string>

#include "cli/tables/layout.h"

namespace muster::cli {

Layout pod_layout(Width width);

// The state of a pod in kubectl's words.
std::string pod_state(const json::Value& pod);

}  // namespace muster::cli
