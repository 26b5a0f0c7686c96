#pragma once

#include <cstdint>

#include "base/error.h"
#include "node/runtime/capabilities.h"
#include "node/runtime/types.h"

namespace muster::node::shim {

// All that the container can ever have.
std::uint64_t rights_of(const ContainerSpec& spec);

// From the next exec on the process, root or not, can have no rights over the machine but these.
// What hides the host from a container rests on that.
Result<void> give_up_other_rights(std::uint64_t kept);

}  // namespace muster::node::shim
