#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/error.h"
#include "rt/real_loop.h"
#include "rt/task.h"

namespace muster::rt {

// A program that is run for what it prints.
struct ChildProgram {
  std::string program;                   // without a slash: looked up in our PATH
  std::vector<std::string> words;        // its own name first
  std::vector<std::string> environment;  // NAME=VALUE
  enum class Input { None, Ours };
  Input input = Input::None;
  std::size_t most_output = std::size_t{1} << 20U;
};

struct ChildAnswer {
  int exit_code = 0;  // 128 + the signal that ended it
  std::string output;
};

// Runs it to its end; no shell, nothing of ours open but standard error, which it shares.
// Cancelling kills it. NotFound when there is no such program, TooLarge when it prints more than it
// may.
Task<Result<ChildAnswer>> run_child(RealLoop& loop, ChildProgram program);

}  // namespace muster::rt
