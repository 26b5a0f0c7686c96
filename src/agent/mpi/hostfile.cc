#include "agent/mpi/hostfile.h"

#include <algorithm>

#include "base/strings.h"

namespace muster::agent::mpi {

std::vector<std::string> hosts_in(std::string_view hostfile) {
  std::vector<std::string> hosts;
  for (auto line : split(hostfile, '\n')) {
    line = trim(line.substr(0, line.find('#')));
    const std::string host(line.substr(0, line.find_first_of(" \t")));
    if (!host.empty() && std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
  }
  return hosts;
}

}  // namespace muster::agent::mpi
