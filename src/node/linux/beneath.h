#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"
#include "base/fd.h"

// Paths that somebody else may change while we walk them: a pod that owns a directory, an earlier
// run of it, another pod with the same volume. The kernel walks them and never leaves the root,
// and what it found is used by its descriptor: nothing is looked up twice. Nothing is made outside
// either.
namespace muster::node::linux {

enum class Walk {
  Beneath,  // links are followed while they stay below the root
  NoLinks,  // no link at all
  InRoot,   // the root is taken for "/": absolute links and ".." end there
};

// The directory itself, whatever leads to it.
Result<Fd> open_root(const std::string& path);
// An absolute path without any link in it.
Result<Fd> open_exact(const std::string& path, int flags);
// `flags` as for open(2); errno is that of the walk.
Result<Fd> open_within(int root, const std::string& path, int flags, Walk walk);
// The directory at the path, and those above it, made where they are missing.
Result<Fd> make_directories_within(int root, const std::string& path, mode_t mode, Walk walk);
// The file at the path with the directories above it, made where they are missing.
Result<Fd> make_file_within(int root, const std::string& path, mode_t mode, Walk walk);

// Where it lies now, without links.
Result<std::string> path_of(int fd);
// By which calls that take a path reach the very file.
std::string descriptor_path(int fd);

}  // namespace muster::node::linux
