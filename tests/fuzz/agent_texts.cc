// What the agent inside a pod reads of its surroundings: hostfiles, /etc/hosts, its environment,
// its command line and what servers answer it.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/environment.h"
#include "agent/kubernetes_api.h"
#include "agent/mpi/frames.h"
#include "agent/mpi/hostfile.h"
#include "agent/mpi/options.h"
#include "agent/mpi/settings.h"
#include "agent/mpi/tally/tally.h"
#include "agent/own_addresses.h"
#include "agent/paddle_legacy/settings.h"
#include "base/check.h"
#include "base/strings.h"

using namespace muster;
using namespace muster::agent;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const std::string& host : mpi::hosts_in(text)) {
    CHECK(!host.empty() && host.find_first_of(" \t\n") == std::string::npos);
  }
  (void)addresses_in_hosts(text, text.substr(0, text.find(' ')));
  if (const auto code = mpi::decode_exit(text)) CHECK(*code >= 0 && *code <= 255);
  (void)mpi::with_remark(text, "muster: so it is");
  (void)refused_list(403, text, "a", "default");
  std::vector<std::string> words;
  std::map<std::string, std::string, std::less<>> variables;
  for (const auto line : split(text, '\n')) {
    words.emplace_back(line);
    const auto equals = std::min(line.find('='), line.size());
    variables[std::string(line.substr(0, equals))] = line.substr(std::min(equals + 1, line.size()));
  }
  variables.erase("MUSTER_MPI_KEY");  // a file of this machine
  (void)mpi::read_options(words, {"--host"}, {"--port", "--wait"}, "run");
  const Environment environment(std::move(variables));
  (void)mpi::read_settings(environment);
  (void)mpi::read_ssh_settings(environment);
  (void)mpi::read_wait(environment, std::chrono::seconds(1));
  (void)paddle_legacy::read_settings(environment, "default");
  return 0;
}
