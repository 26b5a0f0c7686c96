#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace muster::agent {

// The addresses of a name, by the hosts file and the name servers of resolv.conf with its search
// list. Blocks for at most some seconds. A static program cannot load what glibc's resolver is made
// of, so this one is c-ares. NotFound when there is no such name.
Result<std::vector<std::string>> resolve(const std::string& name);

}  // namespace muster::agent
