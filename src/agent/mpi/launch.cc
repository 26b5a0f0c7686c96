#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "agent/ending.h"
#include "agent/files.h"
#include "agent/mpi/front.h"
#include "agent/mpi/hostfile.h"
#include "agent/mpi/options.h"
#include "agent/mpi/peers.h"
#include "agent/mpi/tally/report.h"
#include "agent/mpi/verbs.h"
#include "agent/output.h"
#include "rt/scope.h"

namespace muster::agent::mpi {
namespace {

// Name lookups block; a slow server must not hold up those that answer.
constexpr int kLookups = 4;

Task<void> watch_signals(rt::Signals& signals, Ending& ending) {
  const auto number = co_await signals.next();
  if (number) ending.take(*number);
}

Task<Result<void>> wait_for(VerbContext& context, std::vector<std::string> hosts) {
  const auto limit = CO_TRY(read_wait(context.environment, Duration::zero()));
  auto settings = CO_TRY(uses_ssh(context.environment) ? read_ssh_settings(context.environment)
                                                       : read_settings(context.environment));
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

// What we have Open MPI do unless the job says otherwise. With ssh, who starts daemons needs the
// private key, and only the launcher has it; and nobody is there to hear of ranks.
std::vector<std::string> variables_of_mpirun(const Environment& environment,
                                             const std::string& hostfile) {
  std::vector<std::string> variables;
  if (uses_ssh(environment)) {
    for (const auto* name : {"OMPI_MCA_plm_rsh_no_tree_spawn", "OMPI_MCA_orte_keep_fqdn_hostnames"})
      if (environment.get(name).empty()) variables.push_back(std::string(name) + "=1");
    return variables;
  }
  variables = fork_agent_variables(environment);
  variables.push_back("MUSTER_MPI_HOSTFILE=" + hostfile);
  return variables;
}

Result<void> write_file(const std::string& path, const std::string& text) {
  const auto file = TRY(create_log(path));
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return fail_errno("write " + path);
  return {};
}

}  // namespace

Task<Result<int>> hosts(VerbContext& context) {
  auto options =
      CO_TRY(read_options(context.arguments, {"--from", "--to"}, {"--append"}, "hosts")).values;
  auto text = CO_TRY(read_file(options["--from"]));
  const int signal = CO_TRY(co_await wait_or_signal(context, hosts_in(text)));
  if (signal != 0) co_return 128 + signal;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  if (options.contains("--append")) text += options["--append"] + "\n";
  CO_TRY(write_file(options["--to"], text));
  co_return 0;
}

Task<Result<int>> launch(VerbContext& context) {
  auto options = CO_TRY(read_options(context.arguments, {"--hostfile"}, {}, "launch"));
  if (options.command.empty()) {
    co_return fail(ErrorCode::BadRequest,
                   "the command stands after \"--\"; muster-agent launch --help says more");
  }
  const auto hostfile = options.values["--hostfile"];
  const auto text = CO_TRY(read_file(hostfile));
  const int signal = CO_TRY(co_await wait_or_signal(context, hosts_in(text)));
  if (signal != 0) co_return 128 + signal;
  print("services are ready!\n");
  co_return co_await run_in_front(context, std::move(options.command),
                                  variables_of_mpirun(context.environment, hostfile));
}

}  // namespace muster::agent::mpi
