#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "node/runtime/types.h"
#include "node/shim/root/kernel_views.h"

namespace muster::node::shim {

// In the directory of an attempt: what it wrote to `/`, and what to the directory that it was shown
// copy-on-write (upper/ in it).
inline constexpr const char* kUpperLayer = "upper";
inline constexpr const char* kShownLayer = "shown";

struct RootSpec {
  std::string directory;         // of this attempt: upper/, work/ and tmp/ are made in it
  std::string places_directory;  // for what mounts need; made where it is needed
  RootFilesystem root;
  std::vector<Mount> mounts;
  std::string hosts_file;        // may be empty
  std::string resolver_file;     // bound at /etc/resolv.conf; may be empty
  std::string shm_directory;     // a directory on a memory file system; empty: an own one
  std::string hidden;            // of the host, seen empty wherever it shows; may be empty
  std::string termination_file;  // bound at the path; both may be empty
  std::string termination_path;
  std::string working_directory = "/";  // made if it is missing
  std::vector<ShownCgroup> cgroups;
  std::vector<std::string> devices;  // of the host, beside the usual ones
  bool privileged = false;           // all devices and cgroups, nothing masked
  bool unmasked_proc = false;
  bool read_only = false;  // all but volumes, /dev and /dev/shm
};

// The machine as it is before anything of the root is made.
struct Machine {
  std::string mounts;                // /proc/self/mountinfo
  std::vector<std::string> hidden;   // what no container sees of it
  std::vector<std::string> targets;  // of the root's mounts, in their order, without links
};
Result<Machine> look_at_machine(const RootSpec& spec);

// Gives the calling process a mount namespace of its own in which `/` is the container's root: a
// copy-on-write view, fresh /proc, /sys, /dev and /tmp, and the volumes. Device files open nothing
// but in /dev. Nothing of it can be seen outside, nothing of the machine can be uncovered in it,
// and all of it goes with the last process in it. After an error the process is good for nothing
// but to say so and exit.
Result<void> enter_root(const RootSpec& spec, const Machine& machine, const Fd& empty);

// A mount namespace in which there is nothing but an empty directory. Made once and given to many,
// who begin theirs with it: a copy of the machine's costs as much as the machine has mounts.
Result<Fd> make_empty_namespace();
// Gives the calling process one of its own that is like it.
Result<void> enter_empty_root(const Fd& empty);

// Gives the calling process a mount namespace of its own that is like the one it was in.
Result<void> leave_mounts_of_host();

bool is_directory(const std::string& path);
// The directory, or the file with the directories above it, made if it is not there. The path may
// lead through links, but not through those of /proc, which lead to other processes.
Result<Fd> ensure_directory(const std::string& path);
Result<Fd> ensure_file(const std::string& path);

}  // namespace muster::node::shim
