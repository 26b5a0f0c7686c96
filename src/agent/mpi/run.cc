#include <csignal>

#include "agent/mpi/front.h"
#include "agent/mpi/processes.h"
#include "agent/mpi/server.h"
#include "agent/mpi/tally/report.h"
#include "agent/mpi/verbs.h"

namespace muster::agent::mpi {
namespace {

Result<std::vector<std::string>> command_of(std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words.front() != "--" || words.size() == 1) {
    return fail(ErrorCode::BadRequest,
                "the command stands after \"--\"; muster-agent run --help says more");
  }
  words.erase(words.begin());
  return words;
}

Task<Result<int>> until_ended(VerbContext& context) {
  rt::Signals signals(context.loop, {SIGTERM, SIGINT});
  CO_TRY(co_await signals.next());
  co_return 0;
}

}  // namespace

Task<Result<int>> run(VerbContext& context) {
  auto command = CO_TRY(command_of(context.arguments));
  const auto settings = CO_TRY(read_settings(context.environment));
  const auto server = CO_TRY(Server::listen(context.loop, context.reaper, settings,
                                            fork_agent_variables(context.environment)));
  rt::TaskScope scope(context.loop);
  scope.spawn(server->serve());
  auto ended =
      command.empty() ? until_ended(context) : run_in_front(context, std::move(command), {});
  auto code = co_await std::move(ended);
  // First what would answer a SIGTERM, then whatever is left.
  co_await scope.close();
  end_descendants();
  co_return code;
}

}  // namespace muster::agent::mpi
