#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "node/shim/protocol.h"

// What the runtime does to a pod's directory. All of it blocks: for the pool.
namespace muster::node {

// The lock that a shim holds for as long as it lives. An invalid descriptor: a shim has it.
Result<Fd> lock_pod(const std::string& directory);

struct SpawnedShim {
  int pid = 0;  // 0: one is running already
  Fd ready;     // takes its first answer
};
// Writes the record and starts a shim for it, which inherits the lock: there is no moment at which
// a pod with a shim is not locked, and never two shims.
Result<SpawnedShim> spawn_shim(const std::string& program, const std::string& directory,
                               const shim::SandboxRecord& record);

struct PodOnDisk {
  std::string uid;
  shim::SandboxRecord record;
  bool locked = false;
  int shim_version = shim::kWireVersion;  // what its shim speaks
  std::string unknown;  // why the record cannot be read, although a shim has the lock
};
// Every pod of the home. Directories without a shim that have no record to be read are removed:
// nothing runs in them.
std::vector<PodOnDisk> read_pods(const std::string& pods_directory);

// After the death of a shim: ends what may be left of the pod, and records the exits that nobody
// saw.
Result<void> bury(const std::string& directory, const shim::SandboxRecord& record);

// Waits until no shim has the lock. A child of ours is reaped. Kills the shim when it takes too
// long.
Result<void> await_shim_end(const std::string& directory, int child_pid);

}  // namespace muster::node
