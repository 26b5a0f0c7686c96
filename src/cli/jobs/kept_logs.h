#pragma once

#include <string>
#include <vector>

namespace muster::cli {

// The log of one container that ran on this machine, whether its pod still exists or not.
struct KeptLog {
  std::string pod;
  std::string role;  // as in the pod's name: worker
  int index = 0;
  std::string container;
  int attempt = 0;
  std::string path;
};

// The newest logs of a job's ranks in $MUSTER_HOME/logs, in role and rank order.
std::vector<KeptLog> kept_logs(const std::string& home, const std::string& ns,
                               const std::string& job);

}  // namespace muster::cli
