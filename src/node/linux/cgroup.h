#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "node/runtime/types.h"

namespace muster::node::linux {

// How cgroups are mounted here: the directories above the pods, one for each controller in use.
struct CgroupRoots {
  enum class Version { None, V1, V2 };
  Version version = Version::None;
  std::string memory;  // v1: …/memory/muster/<home>; v2: …/muster/<home>, the same for both
  std::string cpu;
  std::string pids;  // v1: …/pids/muster/<home>; empty: there is no bound
  friend bool operator==(const CgroupRoots&, const CgroupRoots&) = default;
};

// Finds the cgroups of this machine, or those delegated to our user, and makes muster/<home> in
// them. Version::None where nothing can be written: pods then run without limits.
CgroupRoots find_cgroups(const std::string& home_key);
// The group of a controller in /proc/self/cgroup, "" for version 2's; empty: the mount itself.
std::string own_group(std::string_view text, std::string_view controller);
// Removes muster/<home>, and muster itself once no other home is in it. For a home without pods:
// groups that are left in it are of pods that another version of Muster removed, which did not know
// all of their places.
void remove_cgroup_roots(const CgroupRoots& roots);

// The way into a cgroup.
class CgroupDoor {
 public:
  explicit CgroupDoor(std::vector<Fd> files) : files_(std::move(files)) {}
  // The calling process goes into it; its children follow.
  [[nodiscard]] Result<void> enter() const;

 private:
  std::vector<Fd> files_;  // one for each controller
};

// One cgroup under the roots: a pod's, or below it a container's. A name for directories, owns
// nothing: the shim makes and removes it, and the next Muster removes what a dead shim left.
class Cgroup {
 public:
  Cgroup(const CgroupRoots& roots, const std::string& relative);

  // Where it is, by controller; under version 2 there is one, without a name.
  struct Directory {
    std::string controller;
    std::string path;
  };
  [[nodiscard]] std::vector<Directory> directories() const;
  // False where there are none: then nothing is limited or counted, and nothing is found by it.
  [[nodiscard]] bool exists() const { return version_ != CgroupRoots::Version::None; }

  // A pod's holds groups, and a bound on processes for all of them.
  enum class Holds { Processes, Groups };
  Result<void> create(const ResourceLimits& limits, Holds holds);
  // Where its files can be seen; it may be entered elsewhere.
  [[nodiscard]] Result<CgroupDoor> open() const;
  // Every process in it and below it, as seen from the caller's PID namespace.
  [[nodiscard]] std::vector<int> processes() const;
  // SIGKILL for all of them; true when there was none left to kill.
  [[nodiscard]] bool kill() const;
  // How many processes in it the kernel killed for memory.
  [[nodiscard]] int out_of_memory_kills() const;
  // Removes it with everything below it. Fails silently while processes are in it.
  void remove() const;

 private:
  [[nodiscard]] std::vector<std::string> own_directories() const;

  CgroupRoots::Version version_;
  std::string home_;  // the directory above all pods
  std::string memory_;
  std::string cpu_;
  std::string pids_;  // version 1: of the pod; empty: none
  bool of_pod_;
};

}  // namespace muster::node::linux
