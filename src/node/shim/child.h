#pragma once

#include <string>
#include <vector>

#include "base/fd.h"
#include "node/linux/cgroup.h"
#include "node/runtime/types.h"
#include "node/shim/root/root.h"

// What runs between fork and exec, in the new process.
namespace muster::node::shim {

// On the status pipe the child first writes kReady, when only the exec is left, and waits to be
// released. The pipe then closes with the exec; or there comes kFailed and a FailureRecord.
inline constexpr char kReady = 'R';
inline constexpr char kFailed = 'F';

struct Launch {
  const ContainerSpec& spec;
  const RootSpec& root;
  const Fd& empty;  // a mount namespace to begin with
  const linux::Cgroup& cgroup;
  int standard_output;
  int standard_error;
  int status;   // written by the child
  int release;  // read by the child; one byte lets it go, the end of the pipe ends it
};
[[noreturn]] void run_container(const Launch& launch);

struct ExecLaunch {
  const ContainerSpec& spec;  // environment, directory and user are the container's
  const std::vector<std::string>& argv;
  const linux::Cgroup& cgroup;
  int container;  // a pidfd of its first process
  // The program's streams; -1: nothing comes and nothing is wanted.
  int input = -1;
  int output = -1;
  int error = -1;
  // Not -1: it gets a terminal instead, and our end of that goes out here, or why there is none.
  int terminal = -1;
};
[[noreturn]] void run_exec(const ExecLaunch& launch);

// The pod's first process: outlives nobody (it dies with the shim, and the pod with it), reaps what
// the containers orphan, and sees nothing of the host: every container can find it at /proc/1. Says
// kReady on `ready` when all that is certain, or why it cannot be.
[[noreturn]] void run_init(const Fd& empty, int ready);

}  // namespace muster::node::shim
