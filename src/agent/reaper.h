#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <optional>

#include "base/error.h"
#include "rt/real_loop.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::agent {

// How a process ended, once it has. Any number of tasks may wait.
struct ProcessEnd {
  explicit ProcessEnd(rt::Loop& loop) : known(loop) {}
  rt::Event known;
  std::optional<int> code;  // its exit code, or 128 + the signal that ended it
  int signal = 0;           // that one; 0: it ended by itself
};

// Waits for the processes of this program: those that it started and, as the first process of a
// container must, those whose parents went away without waiting for them. Lives on one loop.
class Reaper {
 public:
  // From now on orphans below this process become its children.
  explicit Reaper(rt::RealLoop& loop);

  // Of a process that was started just now, before the loop went on.
  std::shared_ptr<ProcessEnd> expect(pid_t pid);

  // Takes every process that ended, until it is cancelled.
  Task<void> serve();

 private:
  void reap();

  rt::RealLoop& loop_;
  rt::Signals signals_;
  std::map<pid_t, std::shared_ptr<ProcessEnd>> expected_;
};

}  // namespace muster::agent
