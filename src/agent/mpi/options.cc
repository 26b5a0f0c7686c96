#include "agent/mpi/options.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster::agent::mpi {

Result<Options> read_options(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& needed,
                             const std::vector<std::string>& possible, const char* verb) {
  const auto known = [&](const std::string& word) {
    return std::ranges::find(needed, word) != needed.end() ||
           std::ranges::find(possible, word) != possible.end();
  };
  Options options;
  for (std::size_t at = 0; at < arguments.size(); at += 2) {
    if (arguments[at] == "--") {
      options.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                             arguments.end());
      break;
    }
    if (!known(arguments[at]) || at + 1 == arguments.size()) {
      return fail(
          ErrorCode::BadRequest,
          fmt::format("\"{}\" is no option, or lacks its value; muster-agent {} --help says more",
                      arguments[at], verb));
    }
    options.values[arguments[at]] = arguments[at + 1];
  }
  for (const auto& name : needed) {
    if (options.values.contains(name)) continue;
    return fail(ErrorCode::BadRequest,
                fmt::format("{} is missing; muster-agent {} --help says more", name, verb));
  }
  return options;
}

}  // namespace muster::agent::mpi
