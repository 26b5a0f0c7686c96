#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

// Trees of files that pods wrote: walked by descriptor, so that no link that they left leads
// anywhere else.
namespace muster::node::linux {

enum class Visit { Enter, Skip, Stop };  // Enter: what is no directory is just passed

// Everything below the directory, each before what is in it, with its path from there. What goes
// away or cannot be read meanwhile is passed over, and so is what is mounted in it or lies deeper
// than kDeepestTree. False: it was stopped.
inline constexpr std::size_t kDeepestTree = 256;
bool walk_tree(const Fd& directory,
               const std::function<Visit(const std::string& path, const struct stat&)>& visit);

// What files take on the disk.
struct DiskUse {
  std::int64_t bytes = 0;
  std::int64_t files = 0;
  bool whole = true;  // false: there are more than could be counted
  DiskUse& operator+=(const DiskUse& other);
};
// Of the directory and all below it, a file with several names once; at most so many files.
DiskUse disk_use(const std::string& directory, std::int64_t most_files);

}  // namespace muster::node::linux
