#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "node/runtime/types.h"

namespace muster::node::shim {

// Replaces the service rules of the network namespace that the caller is in, in one transaction:
// a connection to a ClusterIP goes to one of its endpoints in turn, and is refused when it has
// none; so is everything else in the service range, which exists nowhere on the wire.
Result<void> replace_services(const std::vector<ServiceRule>& rules,
                              const std::string& service_range);

}  // namespace muster::node::shim
