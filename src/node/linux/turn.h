#pragma once

#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace muster::node::linux {

// What the kernel does for one process at a time: who waits for that inside burns a core, or holds
// up all who only look. Of those who ask by the same directory one has the turn, until the
// descriptor is closed.
Result<Fd> await_turn(const std::string& directory);

}  // namespace muster::node::linux
