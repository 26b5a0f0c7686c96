#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/environment.h"
#include "agent/reaper.h"
#include "base/error.h"
#include "rt/pool.h"
#include "rt/real_loop.h"
#include "rt/task.h"

namespace muster::agent {

// What a verb is given. Outlives the verb's task.
struct VerbContext {
  rt::RealLoop& loop;
  rt::Pool& pool;
  Reaper& reaper;
  Environment environment;
  std::vector<std::string> arguments;  // after the verb itself
};

// One thing that the program does: a row of the table in verbs.cc and a folder or file of its own.
struct Verb {
  std::string_view name;
  std::string_view summary;  // one line of --help
  std::string_view help;     // VERB --help
  // The exit code of the program.
  Task<Result<int>> (*run)(VerbContext& context);
  int failure = 1;  // the exit code when that is an error
};

std::span<const Verb> verbs();

// The program without its process: what argv says is done, the exit code is given.
int run_program(std::vector<std::string> words);

}  // namespace muster::agent
