#pragma once

#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/jobs/listing.h"
#include "cli/tables/items.h"
#include "cli/tables/printer.h"

namespace muster::cli {

// Prints these objects, and from then on each of what is selected as it changes, until a
// signal ends it or nobody reads any more. 128 and the signal.
Task<Result<int>> print_as_they_change(Context& context, cluster::Cluster& cluster, std::string ns,
                                       std::vector<Selected> selected, std::vector<Item> first,
                                       Printer& printer);

}  // namespace muster::cli
