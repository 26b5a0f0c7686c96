#pragma once

#include <string>

#include "cli/context.h"
#include "cluster/cluster.h"

namespace muster::cli {

struct FoundJob {
  const plan::Dialect* dialect = nullptr;
  cluster::ObjectPtr job;
};

// The job of that name, whatever its kind. NotFound says where it was looked for.
Task<Result<FoundJob>> find_job(const Context& context, cluster::Cluster& cluster, std::string ns,
                                std::string name);

}  // namespace muster::cli
