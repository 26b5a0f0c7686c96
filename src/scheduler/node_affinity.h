#pragma once

#include <map>
#include <string>

#include "json/value.h"

namespace muster::scheduler {

// Whether a node with these labels is one that requiredDuringSchedulingIgnoredDuringExecution of a
// pod's nodeAffinity names: one of its terms holds. Null requires nothing.
bool matches_affinity(const json::Value& required, const std::string& node,
                      const std::map<std::string, std::string>& labels);

}  // namespace muster::scheduler
