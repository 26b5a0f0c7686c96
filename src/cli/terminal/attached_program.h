#pragma once

#include "base/error.h"
#include "rt/real_loop.h"
#include "rt/remote_program.h"
#include "rt/task.h"

namespace muster::cli {

struct AttachOptions {
  bool input = false;
  bool terminal = false;  // ours becomes the program's: raw, with its size and every change of it
};

// Carries our standard streams to a program and back until it ends; its exit code. A signal to us
// ends it, with 128 + signal. Our terminal is afterwards as it was before.
Task<Result<int>> attach_program(rt::RealLoop& loop, rt::RemoteProgram& program,
                                 AttachOptions options);

}  // namespace muster::cli
