#include "trainer/flags.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/core.h>

#include "trainer/numbers.h"

namespace muster::trainer {

std::function<Result<void>(std::string_view)> whole_number_into(std::uint64_t& target,
                                                                std::uint64_t least,
                                                                std::uint64_t most) {
  return [&target, least, most](std::string_view text) -> Result<void> {
    const auto number = parse_number<std::uint64_t>(text);
    if (!number || *number < least || *number > most) {
      return usage_error(
          fmt::format("'{}' is not a whole number from {} to {}", text, least, most));
    }
    target = *number;
    return {};
  };
}

std::function<Result<void>(std::string_view)> positive_number_into(double& target) {
  return [&target](std::string_view text) -> Result<void> {
    const auto number = parse_number<double>(text);
    if (!number || !std::isfinite(*number) || *number <= 0) {
      return usage_error(
          fmt::format("'{}' is not a number greater than 0, such as 0.05 or 1e-5", text));
    }
    target = *number;
    return {};
  };
}

Result<std::vector<std::string>> parse_flags(std::span<const Flag> flags,
                                             std::span<const std::string> arguments) {
  std::vector<std::string> others;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const std::string_view argument = arguments[index];
    if (!argument.starts_with("--")) {
      others.emplace_back(argument);
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const auto flag = std::ranges::find(flags, name, &Flag::name);
    if (flag == flags.end()) {
      return usage_error(fmt::format("unknown flag {}; 'muster-trainer --help' lists them", name));
    }
    std::optional<std::string_view> value;
    if (equals != std::string_view::npos) {
      value = argument.substr(equals + 1);
    }
    if (flag->value.empty()) {
      if (value) {
        return usage_error(fmt::format("{} takes no value, but '{}' was given", name, *value));
      }
    } else if (!value) {
      if (index + 1 == arguments.size()) {
        return usage_error(fmt::format("{} needs a value: {} {}", name, name, flag->value));
      }
      value = arguments[++index];
    }
    if (const auto result = flag->set(value.value_or("")); !result) {
      return usage_error(fmt::format("{}: {}", name, result.error().message));
    }
  }
  return others;
}

std::string describe(std::span<const Flag> flags) {
  std::string text;
  for (const Flag& flag : flags) {
    text += fmt::format("  {:<24}  {}\n", fmt::format("{} {}", flag.name, flag.value), flag.help);
  }
  return text;
}

}  // namespace muster::trainer
