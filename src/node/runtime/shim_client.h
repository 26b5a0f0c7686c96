#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "rt/real_loop.h"
#include "rt/remote_program.h"
#include "rt/task.h"

namespace muster::node {

// A request that was sent to the shim of a pod. It stands until this is destroyed.
class ShimQuestion {
 public:
  explicit ShimQuestion(rt::Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  // An answer's payload, status taken off. Gone when the shim died before it answered. Who asks may
  // not be destroyed meanwhile.
  Task<Result<std::string>> next_answer();

 private:
  rt::Descriptor descriptor_;
  std::string buffer_;
};

// In the version of the shim. Gone when none is there.
Task<Result<ShimQuestion>> put_to_shim(rt::RealLoop& loop, std::string pod_directory,
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
