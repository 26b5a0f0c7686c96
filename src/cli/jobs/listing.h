#pragma once

#include <string>
#include <vector>

#include "cli/jobs/resource_names.h"
#include "cluster/cluster.h"

namespace muster::cli {

using Objects = std::vector<cluster::ObjectPtr>;

// Everything of one resource that is selected, in as many pages as it takes.
Task<Result<Objects>> list_all(cluster::Cluster& cluster, api::Resource resource,
                               api::Selection where);

// What was found of one resource.
struct Listing {
  NamedResource of;
  Objects objects;
};

// Everything of these resources, or only what has these names. Of several kinds those that the
// cluster does not have, or does not let us read, are left out, unless that is all of them.
Task<Result<std::vector<Listing>>> fetch_listings(cluster::Cluster& cluster,
                                                  std::vector<NamedResource> kinds, std::string ns,
                                                  std::vector<std::string> names,
                                                  std::string labels);

}  // namespace muster::cli
