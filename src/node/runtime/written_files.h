#pragma once

#include <cstdint>
#include <string>
#include <vector>

// What a container left in a layer of its own. Blocks: for the pool.
namespace muster::node {

// Counting a million files would keep the end of a rank waiting; more than this is told as this.
inline constexpr std::int64_t kMostCountedFiles = 10'000;

// Files and links below the directories of overlay layers. Not counted: what was deleted, which is
// a device there, and what Python keeps of modules, which nobody misses.
std::int64_t count_files(const std::vector<std::string>& directories);

}  // namespace muster::node
