#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "trainer/command_line.h"
#include "trainer/environment.h"
#include "trainer/output.h"
#include "trainer/rank_lock.h"
#include "trainer/run.h"
#include "trainer/scheduler.h"
#include "trainer/verify.h"

namespace muster::trainer {
namespace {

std::optional<std::string> process_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// The first process of a container gets only the signals that it handles, and a pod would otherwise
// sit out its whole grace period. There is nothing to tidy up: checkpoints are whole at every
// moment.
void end_on_signals() {
  struct sigaction action = {};
  action.sa_handler = [](int number) { ::_exit(128 + number); };
  for (const int number : std::array{SIGINT, SIGTERM}) {
    ::sigaction(number, &action, nullptr);
  }
}

ExitCode verdict(bool has_passed) {
  return has_passed ? ExitCode::Success : ExitCode::Failure;
}

Result<ExitCode> execute(const TrainCommand& command) {
  const Environment environment = TRY(read_environment(process_environment));
  if (command.simulated_ranks != 0 && environment.role != Role::Standalone) {
    return usage_error(
        "--simulate-ranks is for a single process: run it without the MS_* variables");
  }
  std::optional<RankLock> lock;
  if (command.lock_directory) {
    lock = TRY(RankLock::take(*command.lock_directory, environment.node_id));
  }
  switch (environment.role) {
    case Role::Standalone:
      TRY(run_alone(command));
      break;
    case Role::Scheduler:
      TRY(run_scheduler({.port = environment.scheduler_port, .workers = environment.workers}));
      break;
    case Role::Worker:
      TRY(run_worker(command, environment));
      break;
  }
  return ExitCode::Success;
}

Result<ExitCode> execute(const CompareCommand& command) {
  return verdict(TRY(compare(command)));
}

Result<ExitCode> execute(const VerifyCommand& command) {
  return verdict(TRY(verify(command)));
}

Result<ExitCode> execute(const HelpCommand& command) {
  fmt::print("{}", command.text);
  return ExitCode::Success;
}

Result<ExitCode> run(const std::vector<std::string>& arguments) {
  const Command command = TRY(parse_command_line(arguments));
  return std::visit([](const auto& chosen) { return execute(chosen); }, command);
}

}  // namespace
}  // namespace muster::trainer

int main(int argument_count, char** arguments) {
  using namespace muster::trainer;
  end_on_signals();
  const Result<ExitCode> result = run({arguments + 1, arguments + argument_count});
  if (!result) {
    note("{}", result.error().message);
    return static_cast<int>(result.error().exit_code);
  }
  return static_cast<int>(*result);
}
