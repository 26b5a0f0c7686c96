#pragma once

#include "cli/context.h"
#include "rt/task.h"
#include "server/store/home_lock.h"

namespace muster::cli {

// The home for somebody who keeps a plane up in it. A plane that was started for commands steps
// aside; those wait for ours. AlreadyExists when another is kept up there.
Task<Result<server::HomeLock>> take_over(Context& context);

}  // namespace muster::cli
