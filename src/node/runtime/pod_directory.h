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
                               const shim::PodRecord& record);

struct PodOnDisk {
  shim::PodRecord record;
  bool locked = false;
};
// Every pod of the home. Directories that never got a record are removed: nothing ran in them.
std::vector<PodOnDisk> read_pods(const std::string& pods_directory);

// After the death of a shim: ends what may be left of the pod, and records the exits that nobody
// saw.
Result<void> bury(const std::string& directory, const shim::PodRecord& record);

// Waits until no shim has the lock. A child of ours is reaped. Kills the shim when it takes too
// long.
Result<void> await_shim_end(const std::string& directory, int child_pid);

}  // namespace muster::node
