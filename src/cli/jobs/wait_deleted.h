#pragma once

#include <string>

#include "cli/context.h"
#include "cluster/cluster.h"

namespace muster::cli {

// So long after their job went, pods that nobody has asked to go are spoken of: usually it takes
// the collector a second.
inline constexpr Duration kCollectorPatience = std::chrono::seconds(3);
// What is waited for then.
std::string waits_for_collector(const std::string& job, std::size_t pods);

// Waits until the object of that uid and, of a job, its last pod are gone: nothing of it runs any
// more. Of a wait for a cluster's garbage collector a note tells.
Task<Result<void>> wait_until_deleted(Context& context, cluster::Cluster& cluster,
                                      api::Resource resource, api::ObjectKey key, std::string uid);

}  // namespace muster::cli
