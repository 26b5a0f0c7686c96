#pragma once

#include <string>

#include "base/error.h"
#include "rt/real_loop.h"
#include "rt/task.h"

namespace muster::node {

// One request to the shim of a pod, in its version, and its answer's payload, status taken off.
// Gone when no shim is there, or it died before it answered.
Task<Result<std::string>> ask_shim(rt::RealLoop& loop, std::string pod_directory,
                                   std::string request, int version);

// Reads one answer from a descriptor that a shim writes to, as above.
Task<Result<std::string>> read_shim_answer(rt::RealLoop& loop, rt::Descriptor& descriptor);

}  // namespace muster::node
