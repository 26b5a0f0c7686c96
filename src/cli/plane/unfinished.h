#pragma once

#include <string>
#include <vector>

#include "plan/dialect.h"
#include "server/core.h"

namespace muster::cli {

// What still needs a control plane: jobs and pods by themselves that have not ended, and whatever
// of them is being deleted. A job that is suspended and has no pods waits for somebody, not for us.
// As people name them, each once: default/bert, also when only pods of it are left.
std::vector<std::string> unfinished(const server::Core& core, const plan::Registry& registry);

}  // namespace muster::cli
