#pragma once

#include <string>
#include <vector>

#include "agent/verbs.h"

namespace muster::agent::mpi {

// As shells say it.
inline constexpr int kProgramNotFound = 127;
inline constexpr int kProgramNotExecutable = 126;

// For the error of Child::spawn().
int code_of(const Error& error);

// The program in our place: our descriptors, terminal, environment and directory are its own, and
// every signal that we can take goes to it. Gives its exit code, 128 + the signal that ended it, or
// what shells give when there is no such program.
Task<Result<int>> run_in_front(VerbContext& context, std::vector<std::string> argv,
                               std::vector<std::string> more_environment);

}  // namespace muster::agent::mpi
