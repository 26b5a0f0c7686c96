#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/tables/items.h"
#include "cli/tables/layout.h"

namespace muster::cli {

// Which pods the rows of these kinds say something of: those of jobs, all for nodes, or none.
std::vector<api::Selection> pods_beside(const std::vector<NamedResource>& kinds,
                                        const std::string& ns);

// What rows show beside their objects. Pods that we may not look at are not known.
Surroundings with_pods(Time now, const std::vector<NamedResource>& kinds, const Objects& pods);
Task<Surroundings> look_around(const Context& context, cluster::Cluster& cluster,
                               std::vector<Item> items, std::string ns);

}  // namespace muster::cli
