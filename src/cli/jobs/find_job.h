#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/jobs/resource_names.h"
#include "cluster/cluster.h"

namespace muster::cli {

struct FoundJob {
  const plan::Dialect* dialect = nullptr;
  cluster::ObjectPtr job;
};

// Where a job may be, as a user writes it: NAME, or KIND/NAME with a kind of resources_named().
struct JobName {
  std::vector<NamedResource> kinds;
  std::string name;
};
Result<JobName> parse_job_name(const plan::Registry& registry, const std::string& text);

// Every job of that name, of whatever kind it may be. A kind that the cluster does not have has
// none; one that it does not let us read is an error only if no other kind has one.
Task<Result<std::vector<FoundJob>>> find_jobs(cluster::Cluster& cluster, std::string ns,
                                              JobName where);

// The one job of that name. NotFound says where it was looked for; BadRequest names the spellings
// when several kinds have one.
Task<Result<FoundJob>> find_job(const Context& context, cluster::Cluster& cluster, std::string ns,
                                JobName where);

}  // namespace muster::cli
