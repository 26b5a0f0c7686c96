#pragma once

#include <string>
#include <vector>

#include "agent/reaper.h"
#include "base/error.h"
#include "rt/task.h"

namespace muster::agent {

inline constexpr int kNoInput = -1;  // reads from /dev/null

// Where signals for a child go, and which ones reach it without us.
enum class Placement {
  Group,       // a process group of its own; signals go to all of it
  Session,     // a session of its own, and so a group
  Beside,      // our own group; signals go to it alone
  Foreground,  // a group of its own that has the terminal, if there is one; signals go to it alone
};

struct ChildOptions {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH
  std::string directory;          // empty: ours
  int input = kNoInput;           // descriptors that become its own; they stay the caller's
  int output = 1;
  int error = 2;
  Placement placement = Placement::Group;
  std::vector<std::string> more_environment;  // NAME=VALUE, over ours
};

// A program that we started. Any number of tasks may wait. Destroying it leaves the program alone.
class Child {
 public:
  // NotFound or Forbidden when there is no such program or it cannot be executed.
  static Result<Child> spawn(Reaper& reaper, const ChildOptions& options);

  // Its exit code; 128 + the signal that ended it.
  Task<Result<int>> wait();
  // Nothing once it has ended.
  void signal(int number) const;
  [[nodiscard]] pid_t pid() const { return pid_; }
  // The signal that ended it; 0: it has not ended, or ended by itself.
  [[nodiscard]] int ended_by() const { return end_->signal; }

 private:
  Child(pid_t pid, bool whole_group, std::shared_ptr<ProcessEnd> end)
      : pid_(pid), whole_group_(whole_group), end_(std::move(end)) {}

  pid_t pid_;
  bool whole_group_;
  std::shared_ptr<ProcessEnd> end_;
};

}  // namespace muster::agent
