#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace muster::cli {

// What was named on the command line as files: a directory stands for the manifests directly in it
// (*.yaml, *.yml, *.json), by name, but for those that are known to be something else; "-" is
// standard input.
Result<std::vector<std::string>> manifest_files(const std::vector<std::string>& named,
                                                const std::vector<std::string>& others = {});

// The whole text of one; bounded.
Result<std::string> read_manifest_file(const std::string& path);

}  // namespace muster::cli
