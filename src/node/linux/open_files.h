#pragma once

#include <string>
#include <vector>

#include "node/linux/tree.h"

namespace muster::node::linux {

// What processes hold open of files that have no name any more and lie on the disk of that
// directory, or in layers of containers: nobody finds them by walking. Each counts once.
DiskUse nameless_files(const std::vector<int>& processes, const std::string& directory);

}  // namespace muster::node::linux
