#pragma once

#include <cstdint>

#include "base/error.h"

namespace muster::node::shim {

// The profile RuntimeDefault: from here on the process and all that comes of it are refused the
// system calls that programs in containers have no use for, and that are the way into most holes of
// kernels. `rights` are those that the container may have: a call that is made for one of them is
// let through with it. To be called while the process may still do everything; what follows up to
// the exec is among what is let through.
Result<void> refuse_unusual_calls(std::uint64_t rights);

}  // namespace muster::node::shim
