#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/shim/root/root.h"

namespace muster::node::shim {

// The directories of a PATH in which a container that begins can have the program; nothing where
// that cannot be told, or it is no name to be looked for. A new view of the machine lacks what the
// machine lacks, unless something is mounted there; and each fruitless look into such a view makes
// the kernel remember every directory on its way, which costs more the longer the PATH is.
std::optional<std::vector<std::string>> narrow_search(const std::string& program,
                                                      const std::string& path, const RootSpec& root,
                                                      const Machine& machine);

}  // namespace muster::node::shim
