#pragma once

#include <string>
#include <vector>

#include "node/runtime/types.h"
#include "node/shim/protocol.h"

// Where things lie in a pod's directory, and what its containers left there.
namespace muster::node::shim {

// In a pod's directory: who its first process is.
inline constexpr const char* kInitFile = "./init";
// Waits until that one has ended, and with it everything in the pod, but not longer than the limit.
bool await_end(const std::string& pod_directory, int milliseconds);

std::string container_directory(const std::string& pod_directory, const ContainerId& id);
// On the disk, below the home: what an attempt writes. That it is there says, also after the
// machine has lost its power, that the attempt was begun.
std::string layers_directory(const SandboxRecord& pod, const ContainerId& id);
std::string layers_directory(const std::string& pod_layers, const ContainerId& id);
// Whose they are, by the name of that directory; no name: nobody's.
ContainerId container_of_layers(const std::string& name);
std::string container_log(const std::string& log_directory, const ContainerId& id);

// All attempts on record in a pod's directory, in order. One that started and has no exit has
// `exit` empty; attempts that were never executed are left out.
std::vector<AdoptedContainer> read_containers(const std::string& pod_directory,
                                              const std::string& log_directory);

}  // namespace muster::node::shim
