#pragma once

#include <map>
#include <string>

#include "cluster/cluster.h"

namespace muster::cli {

using PodsByName = std::map<std::string, cluster::ObjectPtr>;

// "Worker 0-2, PS 0": the ranks that were told to go before they came to their own end. `pods` as
// last seen, also those that are gone; the one that is the cause is not counted.
std::string stopped_ranks(const PodsByName& pods, const std::string& cause);

}  // namespace muster::cli
