#pragma once

#include <string>

#include "cli/context.h"
#include "cli/objects/object_names.h"
#include "cluster/cluster.h"

namespace muster::cli {

struct FoundObject {
  NamedResource of;  // with a dialect: it is a job
  cluster::ObjectPtr object;
};

// Who else a bare NAME may be.
enum class BareName { Job, JobOrPod };

// The one object of that name. NotFound says where it was looked for and what is like it;
// BadRequest names the spellings when several kinds have a job of that name.
Task<Result<FoundObject>> find_object(const Context& context, cluster::Cluster& cluster,
                                      std::string ns, ObjectName name, BareName bare);

// For verbs that need something that runs: BadRequest for what is neither job nor pod.
Result<void> require_runnable(const ObjectName& name);
Task<Result<FoundObject>> find_job_or_pod(const Context& context, cluster::Cluster& cluster,
                                          std::string ns, ObjectName name);

// What a verb that is for jobs alone says of anything else; nothing for a job.
Result<void> require_job(const ObjectName& name);

}  // namespace muster::cli
