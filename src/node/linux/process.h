#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"

// Processes that cannot be mistaken for others.
namespace muster::node::linux {

struct ProcessIdentity {
  int pid = 0;
  std::uint64_t start_time = 0;  // of /proc/PID/stat, in clock ticks since boot
  std::string boot_id;
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};
ProcessIdentity identity_of(int pid);
// True while that very process lives (a zombie does not).
bool is_alive(const ProcessIdentity& identity);
// Signals that process, and never one that took its number.
bool signal_process(const ProcessIdentity& identity, int signal);

// The mount namespace that a process is in; none when it has ended or is not ours to look at. As
// long as it is held no other one gets its number.
Fd mounts_of(int pid);
// SIGKILL for every process in it; true when there was none left to kill. What stands in for a
// container's cgroup where there are none. Does nothing for the one that we are in.
bool kill_all_in(const Fd& mounts);

}  // namespace muster::node::linux
