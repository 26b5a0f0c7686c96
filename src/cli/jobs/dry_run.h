#pragma once

#include <string>
#include <vector>

#include "cli/jobs/manifest.h"
#include "cli/terminal/output.h"

namespace muster::cli {

// Prints the children that each job would get, as YAML documents or a JSON list. The exit code.
int print_planned(Output& output, const std::vector<Manifest>& manifests,
                  const std::string& format);

}  // namespace muster::cli
