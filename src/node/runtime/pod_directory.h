#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "node/runtime/nursery.h"
#include "node/shim/protocol.h"

// What the runtime does to a pod's directory. All of it blocks: for the pool.
namespace muster::node {

// The lock that a shim holds for as long as it lives. An invalid descriptor: a shim has it.
Result<Fd> lock_pod(const std::string& directory);

// Writes the record and has a shim started for it, which inherits the lock: there is no moment at
// which a pod with a shim is not locked, and never two shims. Gives what takes its first answer; an
// invalid descriptor: one is running already.
Result<Fd> spawn_shim(Nursery& nursery, const std::string& directory,
                      const shim::SandboxRecord& record, const std::vector<ServiceRule>& rules);

struct FoundPod {
  std::string uid;
  std::string directory;
  shim::SandboxRecord record;
  bool locked = false;
  int shim_version = shim::kWireVersion;  // what its shim speaks
  std::string unknown;  // why the record cannot be read, although a shim has the lock
};
// Every pod of the home: those whose state is in memory, those of earlier Musters, which kept it on
// the disk, and those that ran when the machine went down, of which only layers are left. State
// without a shim and without a record to be read is removed: nothing runs there.
struct PodPlaces {
  std::string state;   // a directory for each pod
  std::string layers;  // the same
  std::string logs;
};
std::vector<FoundPod> find_pods(const PodPlaces& places);

// After the death of a shim: ends what may be left of the pod, and records the exits that nobody
// saw.
Result<void> bury(const std::string& directory, const shim::SandboxRecord& record);

// Waits until no shim has the lock. Kills the shim when it takes too long.
Result<void> await_shim_end(const std::string& directory);

}  // namespace muster::node
