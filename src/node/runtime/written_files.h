#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/fd.h"

// What a container left in a layer of its own. Blocks: for the pool.
namespace muster::node {

// Counting a million files would keep the end of a rank waiting; more than this is told as this.
inline constexpr std::int64_t kMostCountedFiles = 10'000;

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

}  // namespace muster::node
