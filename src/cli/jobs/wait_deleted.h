#pragma once

#include <string>

#include "cli/context.h"
#include "cluster/cluster.h"

namespace muster::cli {

// Waits until the object of that uid and, of a job, its last pod are gone: nothing of it runs any
// more.
Task<Result<void>> wait_until_deleted(Context& context, cluster::Cluster& cluster,
                                      api::Resource resource, api::ObjectKey key, std::string uid);

}  // namespace muster::cli
