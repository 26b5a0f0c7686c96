#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/context.h"
#include "cli/objects/object_names.h"
#include "cluster/cluster.h"

// What is said of something that is not there.
namespace muster::cli {

// Why that name was not found: where it was looked for, where else it is, and what is called nearly
// so.
Task<Error> absent_object(const Context& context, cluster::Cluster& cluster, std::string ns,
                          ObjectName name);

// Of a kind that the server does not know: what to do about it.
Error absent_kind(const api::Resource& resource);
// Of all our kinds.
std::string absent_kinds();

}  // namespace muster::cli
