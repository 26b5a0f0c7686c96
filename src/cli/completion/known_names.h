#pragma once

#include <string>
#include <vector>

#include "cli/completion/completing.h"
#include "cli/context.h"
#include "rt/task.h"

namespace muster::cli {

// The names that are asked for, from this machine's plane or store, or from the cluster that flags
// name; soon, or none. Says nothing and makes nothing, whatever goes wrong.
Task<std::vector<std::string>> known_names(Context& context, Completing wanted);

}  // namespace muster::cli
