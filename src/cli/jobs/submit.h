#pragma once

#include <vector>

#include "cli/cluster/open_cluster.h"
#include "cli/jobs/manifest.h"

namespace muster::cli {

// Creates every object, in order; answers with what was created. A finished job of the same name is
// replaced, a running one is an error. If one cannot be created, those created before it go again.
Task<Result<std::vector<cluster::ObjectPtr>>> submit(Context& context, OpenCluster& target,
                                                     std::vector<Manifest> manifests);

}  // namespace muster::cli
