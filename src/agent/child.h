#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "rt/real_loop.h"
#include "rt/task.h"

namespace muster::agent {

struct ChildOptions {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH
  std::string directory;
  int output = -1;  // a descriptor that becomes its stdout and stderr; stays the caller's
};

// A program that we started, with a process group of its own: what it starts gets its signals, too.
// One task may wait. Destroying it leaves the program alone.
class Child {
 public:
  static Result<Child> spawn(rt::RealLoop& loop, const ChildOptions& options);

  // Its exit code; 128 + the signal that ended it.
  Task<Result<int>> wait();
  // Nothing once it has ended.
  void signal(int number) const;

 private:
  Child(rt::RealLoop& loop, int pid, int pidfd) : pid_(pid), ended_(loop, pidfd) {}

  int pid_;
  rt::Descriptor ended_;
  bool reaped_ = false;
};

}  // namespace muster::agent
