#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/error.h"

namespace muster::trainer {

// One flag of a command: what it is called, what it takes, what it does with that.
struct Flag {
  std::string_view name;   // "--epochs"
  std::string_view value;  // "N" in the help; empty if the flag takes none
  std::string help;
  std::function<Result<void>(std::string_view)> set;
};

// Setters for the usual kinds of values; `target` outlives them.
[[nodiscard]] std::function<Result<void>(std::string_view)> whole_number_into(std::uint64_t& target,
                                                                              std::uint64_t least,
                                                                              std::uint64_t most);
[[nodiscard]] std::function<Result<void>(std::string_view)> positive_number_into(double& target);

// Sets what is given as "--flag value" or "--flag=value", and returns the other arguments in order.
[[nodiscard]] Result<std::vector<std::string>> parse_flags(std::span<const Flag> flags,
                                                           std::span<const std::string> arguments);

// "  --epochs N   passes over the data\n" for each flag.
[[nodiscard]] std::string describe(std::span<const Flag> flags);

}  // namespace muster::trainer
