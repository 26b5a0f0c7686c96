#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "cli/context.h"
#include "cli/doctor/kernel_trials.h"
#include "cli/doctor/own_trials.h"
#include "node/linux/cgroup.h"
#include "node/runtime/types.h"

namespace muster::cli {

// What there is to know of this machine before it runs pods.
struct MachineFacts {
  std::string home;
  std::string kernel;                       // its release
  std::vector<std::string> missing_rights;  // CAP_SYS_ADMIN (namespaces, …)
  std::optional<KernelTrials> trials;       // none: not without those rights
  std::optional<OwnTrials> own;             // of who is not root of this machine
  node::linux::CgroupRoots::Version cgroups = node::linux::CgroupRoots::Version::None;
  bool bounds_processes = false;
  std::optional<node::DiskSpace> disk;  // of the home; none: it cannot be asked
  std::uint64_t open_files = 0;         // that we may have at most
  std::string shim_problem;             // why muster-shim cannot be started; empty: it can
  Time now;
  bool clock_is_kept = false;  // somebody keeps it right
};

// Blocks for some ten milliseconds. Leaves nothing behind. `path` is where programs are looked for.
MachineFacts look_at_machine(const std::string& home, const std::string& path);

}  // namespace muster::cli
