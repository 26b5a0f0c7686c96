#include "agent/mpi/front.h"

#include <unistd.h>

#include <csignal>

#include "agent/child.h"
#include "agent/output.h"
#include "rt/scope.h"

namespace muster::agent::mpi {
namespace {

std::vector<int> forwarded_signals() {
  std::vector<int> signals{SIGHUP,  SIGINT,  SIGQUIT,  SIGUSR1, SIGUSR2,
                           SIGTERM, SIGCONT, SIGWINCH, SIGALRM};
  for (int number = SIGRTMIN; number <= SIGRTMAX; ++number) signals.push_back(number);
  return signals;
}

Task<void> forward(rt::Signals& signals, const Child& child) {
  while (true) {
    const auto number = co_await signals.next();
    if (!number) co_return;
    child.signal(*number);
  }
}

}  // namespace

int code_of(const Error& error) {
  return error.code == ErrorCode::NotFound ? kProgramNotFound : kProgramNotExecutable;
}

Task<Result<int>> run_in_front(VerbContext& context, std::vector<std::string> argv,
                               std::vector<std::string> more_environment) {
  // Before it starts: a signal that comes meanwhile is not lost.
  rt::Signals signals(context.loop, forwarded_signals());
  auto child = Child::spawn(context.reaper, {.argv = std::move(argv),
                                             .input = STDIN_FILENO,
                                             .placement = Placement::Foreground,
                                             .more_environment = std::move(more_environment)});
  if (!child) {
    say_error(child.error().message);
    co_return code_of(child.error());
  }
  rt::TaskScope scope(context.loop);
  scope.spawn(forward(signals, *child));
  auto wait = child->wait().with_stop(std::stop_token());
  auto code = co_await std::move(wait);
  co_await scope.close();
  co_return code;
}

}  // namespace muster::agent::mpi
