#include <algorithm>
#include <csignal>
#include <map>

#include <fmt/format.h>

#include "agent/ending.h"
#include "agent/files.h"
#include "agent/mpi/front.h"
#include "agent/mpi/hostfile.h"
#include "agent/mpi/peers.h"
#include "agent/mpi/report.h"
#include "agent/mpi/verbs.h"
#include "agent/output.h"
#include "rt/scope.h"

namespace muster::agent::mpi {
namespace {

// Name lookups block; a slow server must not hold up those that answer.
constexpr int kLookups = 4;

struct Words {
  std::map<std::string, std::string> options;
  std::vector<std::string> command;  // after "--"
};

Result<Words> read_words(const std::vector<std::string>& arguments,
                         const std::vector<std::string>& known, const char* verb) {
  Words words;
  for (std::size_t at = 0; at < arguments.size(); at += 2) {
    if (arguments[at] == "--") {
      words.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                           arguments.end());
      break;
    }
    if (std::ranges::find(known, arguments[at]) == known.end() || at + 1 == arguments.size()) {
      return fail(ErrorCode::BadRequest,
                  fmt::format("\"{}\" is no option, or lacks its value; muster-agent {} --help",
                              arguments[at], verb));
    }
    words.options[arguments[at]] = arguments[at + 1];
  }
  return words;
}

Task<void> watch_signals(rt::Signals& signals, Ending& ending) {
  const auto number = co_await signals.next();
  if (number) ending.take(*number);
}

Task<Result<void>> wait_for(VerbContext& context, std::vector<std::string> hosts) {
  const auto limit = CO_TRY(read_wait(context.environment, Duration::zero()));
  auto settings = CO_TRY(read_settings(context.environment));
  std::erase_if(hosts, [&, own = own_hostname()](const auto& host) {
    return is_own_name(host, own, settings.service);
  });
  rt::Pool pool(kLookups);
  const auto peers = CO_TRY(Peers::create(context.loop, pool, std::move(settings)));
  co_return co_await wait_for_hosts(context.loop, *peers, std::move(hosts), limit);
}

// The signal that ended the waiting, or 0.
Task<Result<int>> wait_or_signal(VerbContext& context, std::vector<std::string> hosts) {
  Ending ending;
  rt::Signals signals(context.loop, {SIGTERM, SIGINT, SIGHUP});
  rt::TaskScope scope(context.loop);
  scope.spawn(watch_signals(signals, ending));
  auto waiting = wait_for(context, std::move(hosts)).with_stop(ending.token());
  const auto waited = co_await std::move(waiting);
  co_await scope.close();
  if (ending.signal() != 0) co_return ending.signal();
  if (!waited) co_return fail(waited.error());
  co_return 0;
}

Result<void> write_file(const std::string& path, const std::string& text) {
  const auto file = TRY(create_log(path));
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fail_errno("write " + path);
  return {};
}

}  // namespace

Task<Result<int>> hosts(VerbContext& context) {
  auto words = CO_TRY(read_words(context.arguments, {"--from", "--to", "--append"}, "hosts"));
  if (!words.options.contains("--from") || !words.options.contains("--to"))
    co_return fail(ErrorCode::BadRequest, "--from and --to are needed; muster-agent hosts --help");
  auto text = CO_TRY(read_file(words.options["--from"]));
  const int signal = CO_TRY(co_await wait_or_signal(context, hosts_in(text)));
  if (signal != 0) co_return 128 + signal;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (words.options.contains("--append")) text += words.options["--append"] + "\n";
  CO_TRY(write_file(words.options["--to"], text));
  co_return 0;
}

Task<Result<int>> launch(VerbContext& context) {
  auto words = CO_TRY(read_words(context.arguments, {"--hostfile"}, "launch"));
  if (!words.options.contains("--hostfile") || words.command.empty()) {
    co_return fail(
        ErrorCode::BadRequest,
        "--hostfile and, after \"--\", a command are needed; muster-agent launch --help");
  }
  const auto text = CO_TRY(read_file(words.options["--hostfile"]));
  const int signal = CO_TRY(co_await wait_or_signal(context, hosts_in(text)));
  if (signal != 0) co_return 128 + signal;
  print("services are ready!\n");
  auto variables = fork_agent_variables(context.environment);
  variables.push_back("MUSTER_MPI_HOSTFILE=" + words.options["--hostfile"]);
  co_return co_await run_in_front(context, std::move(words.command), std::move(variables));
}

}  // namespace muster::agent::mpi
