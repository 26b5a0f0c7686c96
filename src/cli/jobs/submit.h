#pragma once

#include <string>
#include <vector>

#include "cli/cluster/open_cluster.h"
#include "cli/jobs/manifest.h"

namespace muster::cli {

struct Submitted {
  cluster::ObjectPtr object;
  bool is_new = true;  // ours to take back
};

// Creates every object, in order. Everything is looked at first: what is invalid, what exists and
// may not be changed, a job of the same name that still runs; then nothing is created at all. What
// exists as the file has it is kept, what differs becomes what the file says, finished jobs and
// pods of the same name are replaced. If one cannot be created, those created before it go again.
Task<Result<std::vector<Submitted>>> submit(Context& context, OpenCluster& target,
                                            std::vector<Manifest> manifests);

// Deletes what a run created, last first; what is gone already is fine. Never what holds data, or
// could: claims, volumes, classes and namespaces stay, and are named in the answer.
Task<std::vector<std::string>> clean_up(const Context& context, cluster::Cluster& cluster,
                                        std::vector<Manifest> manifests,
                                        std::vector<Submitted> submitted);

}  // namespace muster::cli
