#pragma once

#include <string>
#include <vector>

#include "base/error.h"

// All homes of this machine that we could look into: no container of one may look into another.
namespace muster::node::linux {

// Until the machine is started again. `key` is a name that no other home has.
Result<void> remember_home(const std::string& key, const std::string& path);
// Those that are still there.
std::vector<std::string> known_homes();

}  // namespace muster::node::linux
