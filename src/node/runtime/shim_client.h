#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "rt/real_loop.h"
#include "rt/remote_program.h"
#include "rt/task.h"

namespace muster::node {

// One request to the shim of a pod, in its version, and its answer's payload, status taken off.
// Gone when no shim is there, or it died before it answered.
Task<Result<std::string>> ask_shim(rt::RealLoop& loop, std::string pod_directory,
                                   std::string request, int version);

// Reads one answer from a descriptor that a shim writes to, as above. What came after it stays in
// `buffer`.
Task<Result<std::string>> read_shim_answer(rt::Descriptor& descriptor, std::string& buffer);

// A session with a program of the pod: the request that opens it was answered with success.
Task<Result<std::unique_ptr<rt::RemoteProgram>>> open_shim_session(rt::RealLoop& loop,
                                                                   std::string pod_directory,
                                                                   std::string request,
                                                                   int version);

}  // namespace muster::node
