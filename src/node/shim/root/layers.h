#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "node/runtime/types.h"

// Copy-on-write views of directories.
namespace muster::node::shim {

// An overlay; `lower` may be several, the upper one first. Paths are escaped where they have to be.
Result<void> lay_over(const std::string& lower, const std::string& upper, const std::string& work,
                      const std::string& at);

// Beside upper/, where there is one view for each directory: the paths of the links and empty files
// in upper/ that were made for that, a line each.
inline constexpr const char* kMadeFile = "made";

// A container's root at root/ in the working directory; what is written to it is in upper/, at the
// path that it has in the container. Returns the mounts that are below it.
Result<std::vector<std::string>> make_layers(const RootFilesystem& root);

}  // namespace muster::node::shim
