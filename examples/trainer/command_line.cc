#include "trainer/command_line.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/core.h>

#include "trainer/flags.h"

namespace muster::trainer {
namespace {

constexpr std::uint64_t kMaxStepDelay = 60'000;

constexpr std::string_view kExamples = R"(Examples:
  train in this process alone:
    muster-trainer
  keep checkpoints and the result in out/:
    muster-trainer --checkpoint-dir out --epochs 2
  compute in one process what four ranks would:
    muster-trainer --checkpoint-dir sim --simulate-ranks 4
  did the four ranks of a job compute what one process would?
    muster-trainer verify out --ranks 4
  how far apart are two results?
    muster-trainer compare out/final-rank-0.params sim/final-simulated.params --tolerance 1e-5

Trains a small classifier on data that it makes up, data-parallel: each rank has its own shard, and
gradients are summed over a ring of TCP connections. Ranks find each other through the MS_*
variables that an MSJob injects; without them there is one rank.

Exit codes: 0 done; 1 failed; 2 wrong flags or environment; 97 this rank is running twice; 138 a
peer was lost: start this rank again, and it resumes from the last checkpoint that all ranks have.
)";

std::function<Result<void>(std::string_view)> path_into(
    std::optional<std::filesystem::path>& target) {
  return [&target](std::string_view text) -> Result<void> {
    if (text.empty()) {
      return usage_error("a directory is needed, such as /checkpoints");
    }
    target = std::filesystem::path(text);
    return {};
  };
}

std::vector<Flag> training_flags(TrainCommand& command, std::uint64_t& step_delay) {
  Hyperparameters& run = command.hyperparameters;
  const auto preset = [](std::string_view text, auto value) {
    return fmt::format("{} (default {})", text, value);
  };
  return {
      {"--epochs", "N", preset("passes over each rank's shard", run.epochs),
       whole_number_into(run.epochs, 1, kMaxEpochs)},
      {"--steps-per-epoch", "N", preset("steps in each", run.steps_per_epoch),
       whole_number_into(run.steps_per_epoch, 1, kMaxTotalSteps)},
      {"--batch", "N", preset("samples per rank and step", run.batch),
       whole_number_into(run.batch, 1, kMaxBatch)},
      {"--hidden", "N", preset("units of the hidden layer", run.hidden),
       whole_number_into(run.hidden, 1, kMaxHidden)},
      {"--lr", "RATE", preset("learning rate", run.learning_rate),
       positive_number_into(run.learning_rate)},
      {"--seed", "N", preset("of the data and the initial parameters", run.seed),
       whole_number_into(run.seed, 0, std::numeric_limits<std::uint64_t>::max())},
      {"--log-every", "N",
       preset("steps between two lines of progress; 0: none", command.log_every),
       whole_number_into(command.log_every, 0, kMaxTotalSteps)},
      {"--checkpoint-dir", "DIR",
       "where checkpoints and final parameters go; none are written without it",
       path_into(command.checkpoint_directory)},
      {"--checkpoint-every", "N",
       preset("steps between two checkpoints; 0: only the last", command.checkpoint_every),
       whole_number_into(command.checkpoint_every, 0, kMaxTotalSteps)},
      {"--simulate-ranks", "N", "compute in this one process what N ranks would",
       whole_number_into(command.simulated_ranks, 1, kMaxRanks)},
      {"--no-all-reduce", "", "let every rank go its own way, to see 'verify' fail",
       [&run](std::string_view) -> Result<void> {
         run.all_reduce = false;
         return {};
       }},
      {"--step-delay-ms", "N", "wait so long after each step, to have time for faults (default 0)",
       whole_number_into(step_delay, 0, kMaxStepDelay)},
      {"--lock-dir", "DIR", "hold DIR/<node id>.lock for life; exit 97 if another process does",
       path_into(command.lock_directory)},
  };
}

std::vector<Flag> verify_flags(VerifyCommand& command) {
  return {{"--ranks", "N", "how many there were", whole_number_into(command.ranks, 1, kMaxRanks)},
          {"--tolerance", "X", "greatest difference allowed (default 1e-5)",
           positive_number_into(command.tolerance)}};
}

std::vector<Flag> compare_flags(CompareCommand& command) {
  return {{"--tolerance", "X", "greatest difference allowed (default 1e-5)",
           positive_number_into(command.tolerance)}};
}

std::string help() {
  TrainCommand train;
  VerifyCommand verify;
  CompareCommand compare;
  std::uint64_t step_delay = 0;
  return fmt::format(
      "{}\nmuster-trainer [FLAGS]\n{}\n"
      "muster-trainer verify DIR --ranks N: are the results of all ranks in DIR equal, right, and "
      "learned?\n{}\n"
      "muster-trainer compare A B: the greatest difference between two parameter files\n{}",
      kExamples, describe(training_flags(train, step_delay)), describe(verify_flags(verify)),
      describe(compare_flags(compare)));
}

Result<Command> parse_train(std::span<const std::string> arguments) {
  TrainCommand command;
  std::uint64_t step_delay = 0;
  const auto others = TRY(parse_flags(training_flags(command, step_delay), arguments));
  if (!others.empty()) {
    return usage_error(
        fmt::format("unexpected argument '{}': commands are 'verify' and 'compare', and training "
                    "takes only flags",
                    others.front()));
  }
  command.step_delay = std::chrono::milliseconds(step_delay);
  TRY(check(command.hyperparameters));
  return command;
}

Result<Command> parse_verify(std::span<const std::string> arguments) {
  VerifyCommand command;
  const auto others = TRY(parse_flags(verify_flags(command), arguments));
  if (others.size() != 1) {
    return usage_error("verify takes one directory: muster-trainer verify DIR --ranks N");
  }
  if (command.ranks == 0) {
    return usage_error(
        "verify needs to know how many ranks there were: muster-trainer verify DIR --ranks N");
  }
  command.directory = others.front();
  return command;
}

Result<Command> parse_compare(std::span<const std::string> arguments) {
  CompareCommand command;
  const auto others = TRY(parse_flags(compare_flags(command), arguments));
  if (others.size() != 2) {
    return usage_error("compare takes two files: muster-trainer compare A B --tolerance 1e-5");
  }
  command.first = others[0];
  command.second = others[1];
  return command;
}

}  // namespace

Result<Command> parse_command_line(std::span<const std::string> arguments) {
  const bool wants_help = std::ranges::any_of(arguments, [](const std::string& argument) {
    return argument == "--help" || argument == "-h";
  });
  if (wants_help || (!arguments.empty() && arguments.front() == "help")) {
    return HelpCommand{help()};
  }
  if (!arguments.empty() && arguments.front() == "verify") {
    return parse_verify(arguments.subspan(1));
  }
  if (!arguments.empty() && arguments.front() == "compare") {
    return parse_compare(arguments.subspan(1));
  }
  return parse_train(arguments);
}

}  // namespace muster::trainer
