#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "node/linux/tree.h"

// What a container left in a layer of its own. Blocks: for the pool.
namespace muster::node {

// Counting a million files would keep the end of a rank waiting; more than this is told as this.
inline constexpr std::int64_t kMostCountedFiles = 10'000;

// The same for measuring: what is beyond is not counted. 200,000 files × ~2 µs ≈ 0.4 s of a thread.
inline constexpr std::int64_t kMostMeasuredFiles = 200'000;

// A directory of an overlay layer that holds something.
struct WrittenLayer {
  Fd fd;
  // In the container's root, with a slash behind it; nothing for what is shown to it.
  std::optional<std::string> path;
};
// Those that show at a directory of the container, which may have replaced everything on the way.
std::vector<WrittenLayer> written_layers(const std::string& layers_directory,
                                         const std::string& directory);

// Files and links below the layers, but for those named by their path in the container's root. Not
// counted: what was deleted, which is a device there, and what Python keeps of modules, which
// nobody misses.
std::int64_t count_files(const std::vector<WrittenLayer>& layers,
                         const std::set<std::string>& except);

// What stands in the upper layer of an attempt because something is mounted there, by its path in
// the container's root, without the slash in front. Empty where its spec cannot be read.
std::set<std::string> mounted_over(const std::string& attempt_directory);

// What was made in the upper layer so that the machine shows, as mounted_over() names it.
std::set<std::string> made_for_view(const std::string& layers_directory);

// What lies in the directories below one, of which each is a container's, or an attempt's.
using DiskUses = std::map<std::string, linux::DiskUse>;  // by container
enum class Below { Containers, Attempts };
void add_disk_use(DiskUses& uses, const std::string& directory, Below below);

// Removes the layers of an attempt; its records stay.
Result<void> remove_layers(const std::string& layers_directory);

}  // namespace muster::node
