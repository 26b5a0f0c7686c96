#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "json/value.h"
#include "node/runtime/types.h"

// What a pod may take of the disk.
namespace muster::node {

inline constexpr const char* kDiskResource = "ephemeral-storage";

struct DiskLimits {
  std::map<std::string, std::int64_t> containers;  // limits.ephemeral-storage, where it is set
  // The sum, if every container has a limit: then the pod as a whole, with its volumes, has one.
  std::optional<std::int64_t> pod;
  std::map<std::string, std::int64_t> volumes;  // sizeLimit of emptyDirs, where it is set
  std::int64_t request = 0;                     // ephemeral-storage of all containers
};
DiskLimits disk_limits(const json::Value& pod);

// Kept free for the machine and for our own records: a tenth of the disk, at most 256 MiB.
std::int64_t disk_reserve(const DiskSpace& space);
// Too little is left to go on as usual: less than the reserve, or hardly a file can be made.
bool is_full(const DiskSpace& space);
// No more files can be made, whatever their size.
bool lacks_files(const DiskSpace& space);
// It may be full within a moment: worth a closer look.
bool runs_low(const DiskSpace& space);

// What a pod without a limit may take: half of all that pods have, which is what is free beyond the
// reserve and what they took already. So one pod alone never fills the disk.
std::int64_t fair_share(const DiskSpace& space, std::int64_t taken_by_pods);

// 512Ki, 8.5Mi, 2Gi
std::string bytes_text(std::int64_t bytes);

}  // namespace muster::node
