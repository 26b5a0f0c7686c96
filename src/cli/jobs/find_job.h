#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/objects/object_names.h"
#include "cluster/cluster.h"

namespace muster::cli {

struct FoundJob {
  const plan::Dialect* dialect = nullptr;
  cluster::ObjectPtr job;
};

// Where a job may be, as a user writes it: NAME, or KIND/NAME.
Result<ObjectName> parse_job_name(const plan::Registry& registry, const std::string& text);

// Every job of that name, of whatever kind it may be. A kind that the cluster does not have has
// none; one that it does not let us read is an error only if no other kind has one.
Task<Result<std::vector<FoundJob>>> find_jobs(cluster::Cluster& cluster, std::string ns,
                                              ObjectName where);

// The one job among those that were found. NotFound says where it was looked for and what is like
// it; BadRequest names the spellings when several kinds have one.
Task<Result<FoundJob>> only_job(const Context& context, cluster::Cluster& cluster, std::string ns,
                                ObjectName where, std::vector<FoundJob> found);

// Both.
Task<Result<FoundJob>> find_job(const Context& context, cluster::Cluster& cluster, std::string ns,
                                ObjectName where);

}  // namespace muster::cli
