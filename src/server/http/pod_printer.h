#pragma once

#include <vector>

#include "base/time.h"
#include "json/value.h"

namespace muster::server {

// The cells of a pod's row: Name, Ready, Status, Restarts, Age, and the wide ones.
std::vector<json::Value> pod_cells(const json::Value& pod, Time now);

}  // namespace muster::server
