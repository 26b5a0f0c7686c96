#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::node::linux {

// Where a process is in one hierarchy of cgroups: a line of /proc/self/cgroup and the place where
// that hierarchy is mounted.
struct GroupPlace {
  std::string mount;
  std::string path;  // inside of it
  enum class Version { V1, V2 };
  Version version = Version::V1;
};

// The hierarchies by which services are ended, counted and frozen (version 2, the named ones,
// memory, cpu, cpuacct, pids, freezer) in which the process is not at the top. Those that only say
// what a process may use (cpuset, devices, blkio, …) are left out: whoever set a limit there meant
// it for pods as well. From the texts of /proc/self/cgroup and /proc/self/mounts.
std::vector<GroupPlace> groups_to_leave(std::string_view groups, std::string_view mounts);

// Takes the calling process, which has one thread, out of the cgroups of the service that started
// it, into muster/<home>-shims: whoever ends every process of the service ends no pod. Best effort:
// where a group cannot be made or entered it stays where it is.
void leave_service_groups(const std::string& home_key);
// Removes the groups when nobody is in them.
void remove_shim_groups(const std::string& home_key);

}  // namespace muster::node::linux
