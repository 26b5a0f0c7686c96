#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/objects/object_names.h"
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

// What a user asks to see: everything of some resources, or what has these names.
struct Wanted {
  std::vector<NamedResource> kinds;
  std::vector<ObjectName> names;
  std::string labels;
  std::string fields;
};

struct Fetched {
  std::vector<Listing> listings;
  std::vector<Error> missing;  // of names: one each
};

// Of several kinds those that the cluster does not have, or does not let us read, are left out,
// unless that is all of them.
Task<Result<Fetched>> fetch(const Context& context, cluster::Cluster& cluster, std::string ns,
                            Wanted wanted);

// What was fetched as something to watch: of one resource what is selected, and of that only these
// names (none: all).
struct Selected {
  NamedResource of;
  api::Selection where;
  std::set<std::string> names;
};
std::vector<Selected> selections_for(const Wanted& wanted, const Fetched& fetched,
                                     const std::string& ns);

}  // namespace muster::cli
