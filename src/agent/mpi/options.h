#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"

namespace muster::agent::mpi {

// The words of a verb: options with a value each, and what stands after "--".
struct Options {
  std::map<std::string, std::string> values;
  std::vector<std::string> command;
};

// BadRequest names what is not known, lacks its value, or is needed and missing.
Result<Options> read_options(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& needed,
                             const std::vector<std::string>& possible, const char* verb);

}  // namespace muster::agent::mpi
