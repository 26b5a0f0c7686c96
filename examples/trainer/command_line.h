#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "trainer/error.h"
#include "trainer/hyperparameters.h"

namespace muster::trainer {

struct TrainCommand {
  Hyperparameters hyperparameters;    // `ranks` is set later, from the environment
  std::uint64_t simulated_ranks = 0;  // 0: none are
  std::uint64_t log_every = 10;
  std::uint64_t checkpoint_every = 50;
  std::chrono::milliseconds step_delay{};
  std::optional<std::filesystem::path> checkpoint_directory;
  std::optional<std::filesystem::path> lock_directory;
};

struct CompareCommand {
  std::filesystem::path first;
  std::filesystem::path second;
  double tolerance = 1e-5;
};

struct VerifyCommand {
  std::filesystem::path directory;
  std::uint64_t ranks = 0;
  double tolerance = 1e-5;
};

struct HelpCommand {
  std::string text;
};

using Command = std::variant<TrainCommand, CompareCommand, VerifyCommand, HelpCommand>;

// The arguments after the program's name.
[[nodiscard]] Result<Command> parse_command_line(std::span<const std::string> arguments);

}  // namespace muster::trainer
