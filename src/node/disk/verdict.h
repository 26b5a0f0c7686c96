#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/disk/limits.h"
#include "node/linux/tree.h"
#include "node/runtime/types.h"

// Who has to go.
namespace muster::node {

struct VolumeDiskUse {
  linux::DiskUse use;
  bool in_memory = false;  // then it takes none of the disk
};

// What a pod has on the disk.
struct PodDiskUse {
  std::map<std::string, linux::DiskUse> containers;  // layers and logs
  std::map<std::string, VolumeDiskUse> volumes;      // its emptyDirs
  [[nodiscard]] linux::DiskUse total() const;
};

// Why the pod has to be evicted for what it took; nothing: it is within its limits. `share` is what
// it may take without one.
std::optional<std::string> over_limit(const DiskLimits& limits, const PodDiskUse& use,
                                      std::int64_t share);

struct Candidate {
  std::string uid;
  std::int64_t request = 0;
  linux::DiskUse use;
};
// Whose end gives a full disk the most of what is not theirs by request; nothing where it would
// give hardly anything.
std::optional<Candidate> choose_victim(const std::vector<Candidate>& pods, const DiskSpace& space);
std::string victim_message(const Candidate& victim, const DiskSpace& space);

}  // namespace muster::node
