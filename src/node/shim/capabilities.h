#pragma once

#include "base/error.h"

namespace muster::node::shim {

// From the next exec on the process, root or not, can have no rights over the machine but the usual
// ones of containers: none to mount, to make devices, to change the network or to look into
// processes of other users. What hides the host from a container rests on that.
Result<void> give_up_machine_rights();

}  // namespace muster::node::shim
