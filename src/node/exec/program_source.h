#pragma once

#include <memory>

#include "api/object.h"
#include "api/requests.h"
#include "base/error.h"
#include "node/runtime/runtime.h"
#include "rt/remote_program.h"
#include "rt/task.h"

namespace muster::node {

// Programs inside the containers of this node's pods. Lives on the agent's loop; the runtime
// outlives it.
class ProgramSource {
 public:
  explicit ProgramSource(Runtime& runtime) : runtime_(runtime) {}

  // Of a pod as the API shows it. BadRequest when the container does not run.
  Task<Result<std::unique_ptr<rt::RemoteProgram>>> open(api::ObjectPtr pod,
                                                        api::ExecOptions options);

 private:
  Runtime& runtime_;
};

}  // namespace muster::node
