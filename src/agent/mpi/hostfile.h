#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::agent::mpi {

// The hosts that a host file of Open MPI names, each once, in its order: the first word of every
// line that is neither empty nor a comment.
std::vector<std::string> hosts_in(std::string_view hostfile);

}  // namespace muster::agent::mpi
