#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

// What a container left in a layer of its own. Blocks: for the pool.
namespace muster::node {

// Counting a million files would keep the end of a rank waiting; more than this is told as this.
inline constexpr std::int64_t kMostCountedFiles = 10'000;

// Files and links below the directories of overlay layers, but for those named. Not counted: what
// was deleted, which is a device there, and what Python keeps of modules, which nobody misses.
std::int64_t count_files(const std::vector<std::string>& directories,
                         const std::set<std::string>& except);

// What stands in the upper layer of an attempt because something is mounted there, by its path.
// Empty where its spec cannot be read.
std::set<std::string> mounted_over(const std::string& attempt_directory, const std::string& layers);

}  // namespace muster::node
