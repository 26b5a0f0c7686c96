#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

#include "agent/child.h"
#include "agent/mpi/front.h"
#include "agent/mpi/tally/report.h"
#include "agent/mpi/verbs.h"
#include "agent/output.h"
#include "base/strings.h"
#include "rt/scope.h"

namespace muster::agent::mpi {
namespace {

using namespace std::chrono_literals;

// What is not known upstairs by then is not worth holding a rank for.
constexpr Duration kNoteLimit = 3s;

// The rank's group gets signals as a whole, us included: we only remember that it was told to end.
Task<void> remember_signals(rt::Signals& signals, bool& told_to_end) {
  while (true) {
    const auto number = co_await signals.next();
    if (!number) co_return;
    if (*number == SIGTERM || *number == SIGINT) told_to_end = true;
  }
}

// As the rank ended, so that its daemon sees the same.
void end_by(int signal) {
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);  // one core is enough
  static_cast<void>(std::signal(signal, SIG_DFL));
  static_cast<void>(::raise(signal));
}

Task<void> note(rt::RealLoop& loop, ReportSink& sink, RankReport report) {
  [[maybe_unused]] const auto noted =
      co_await rt::with_timeout(loop, kNoteLimit, sink.note(std::move(report)));
}

}  // namespace

Task<Result<int>> rank(VerbContext& context) {
  if (context.arguments.empty())
    co_return fail(ErrorCode::BadRequest,
                   "a program is needed; muster-agent rank --help says more");
  bool told_to_end = false;
  rt::Signals signals(context.loop, {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGTERM, SIGALRM});
  rt::TaskScope watching(context.loop);
  watching.spawn(remember_signals(signals, told_to_end));
  auto child = Child::spawn(
      context.reaper,
      {.argv = context.arguments, .input = STDIN_FILENO, .placement = Placement::Beside});
  const auto number = parse_int(context.environment.get("OMPI_COMM_WORLD_RANK"));
  const RankReport report{.rank = static_cast<int>(number.value_or(0))};
  const auto sink = find_sink(context);
  rt::TaskScope notes(context.loop);
  notes.spawn(note(context.loop, *sink, report));
  int code = 0;
  if (child) {
    auto wait = child->wait().with_stop(std::stop_token());
    code = CO_TRY(co_await std::move(wait));
  } else {
    say_error(child.error().message);
    code = code_of(child.error());
  }
  co_await notes.join();
  // A rank that was ended because another failed did not fail.
  if (!told_to_end) {
    auto last = report;
    last.code = code;
    co_await note(context.loop, *sink, last);
  }
  co_await watching.close();
  if (child && child->ended_by() != 0) end_by(child->ended_by());
  co_return code;
}

}  // namespace muster::agent::mpi
