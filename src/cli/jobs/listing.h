#pragma once

#include <string>
#include <vector>

#include "cli/jobs/resource_names.h"
#include "cluster/cluster.h"

namespace muster::cli {

// What was found of one resource.
struct Listing {
  NamedResource of;
  std::vector<cluster::ObjectPtr> objects;
};

// Everything of these resources, or only what has these names. Of several kinds those that the
// cluster does not have, or does not let us read, are left out, unless that is all of them.
Task<Result<std::vector<Listing>>> fetch_listings(cluster::Cluster& cluster,
                                                  std::vector<NamedResource> kinds, std::string ns,
                                                  std::vector<std::string> names,
                                                  std::string labels);

}  // namespace muster::cli
