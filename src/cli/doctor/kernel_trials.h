#pragma once

#include <string>

// What pods need of the kernel, tried in namespaces that nobody else sees and that are gone
// afterwards.
namespace muster::cli {

// Why each did not work; empty: it did. One that needs another is not tried without it.
struct KernelTrials {
  std::string namespaces;  // of mounts and networks
  std::string links;       // a bridge and a pair of links on it
  std::string services;    // rules that send a ClusterIP's connections to its endpoints
  std::string overlay;  // over the machine's root, as containers have it, with layers in the home
};

// `home` need not exist: its layers are then tried in the nearest directory above it that does.
// Leaves nothing there. Blocks; wants the rights of root.
KernelTrials try_kernel(const std::string& home);

}  // namespace muster::cli
