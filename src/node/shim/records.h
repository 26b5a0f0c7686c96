#pragma once

#include <string>
#include <vector>

#include "node/runtime/types.h"
#include "node/shim/protocol.h"

// Where things lie in a pod's directory, and what its containers left there.
namespace muster::node::shim {

std::string container_directory(const std::string& pod_directory, const ContainerId& id);
std::string container_log(const std::string& log_directory, const ContainerId& id);

// All attempts on record in a pod's directory, in order. One that started and has no exit has
// `exit` empty; attempts that were never executed are left out.
std::vector<AdoptedContainer> read_containers(const std::string& pod_directory,
                                              const std::string& log_directory);

}  // namespace muster::node::shim
