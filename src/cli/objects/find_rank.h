#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "cli/jobs/find_job.h"
#include "cluster/cluster.h"
#include "rt/task.h"

namespace muster::cli {

// One rank as a user names it; what is left out is the first of its kind that runs.
struct RankName {
  std::string role;
  std::optional<int> index;
};

struct FoundRank {
  api::ObjectKey pod;
  std::string container;  // the one that the rank is about
};

// A pod of the job that runs now. NotFound says which do.
Task<Result<FoundRank>> find_running_rank(cluster::Cluster& cluster, FoundJob job, RankName rank);

}  // namespace muster::cli
