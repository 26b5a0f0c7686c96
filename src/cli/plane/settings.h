#pragma once

#include <string>

#include "cli/context.h"
#include "json/value.h"

namespace muster::cli {

// What was asked of the process that runs the jobs and pods: --images, --capacity, --agent-image.
// Two commands share a plane only when they asked for the same.
json::Value runner_settings(const Context& context);

// "--images, --capacity", or nothing.
std::string flags_of_the_runner(const Context& context);

}  // namespace muster::cli
