#pragma once

#include <cstdint>
#include <string>

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

// Which mount namespace a process is in; empty when it has ended or is not ours to look at.
std::string mounts_of(int pid);
// SIGKILL for every process in it but ourselves; true when there was none left to kill. What stands
// in for a container's cgroup where there are none.
bool kill_all_in(const std::string& mounts);

}  // namespace muster::node::linux
