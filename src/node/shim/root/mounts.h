#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

// The kernel's calls for mount trees, one function each.
namespace muster::node::shim {

enum class Access { ReadWrite, ReadOnly };

// A detached copy of what is mounted at the path and below it, private to us, in which device files
// open nothing.
Result<Fd> clone_tree(const std::string& path, Access access);
// The same of what was opened.
Result<Fd> clone_tree(const Fd& opened, Access access);
// A new file system of the kernel, mounted nowhere, that holds neither devices nor programs.
Result<Fd> new_tree(const char* type, Access access);
// A new overlay, mounted nowhere, in which device files open nothing. `flags` are its options
// without a value.
struct Overlay {
  std::vector<std::string> lower;  // the uppermost first
  std::string upper;
  std::string work;
};
Result<Fd> new_overlay(const Overlay& what, const std::vector<const char*>& flags);
// A device file of the machine, to be mounted where it shall be used.
Result<Fd> clone_device(const std::string& path);
// Attaches a detached tree at a path that exists and that nobody else can change.
Result<void> attach(const Fd& tree, const std::string& path);
// The same at a directory or file that was opened.
Result<void> attach(const Fd& tree, const Fd& place);
// The mount itself, without those below it.
Result<void> set_read_only(const std::string& mount_point);
Result<void> set_read_only(const Fd& tree);
Result<void> mount_new(const char* type, const std::string& path, unsigned long flags,
                       const std::string& options);

// True for the directory itself and everything in it.
bool is_below(std::string_view path, std::string_view directory);

// Mount points directly below the root mount, topmost only: /home, /data, /boot, …
// `text` is a mountinfo file.
std::vector<std::string> top_mount_points(std::string_view text);

// All of them.
std::vector<std::string> mount_points(std::string_view text);

// Everywhere the directory can be seen: its own path, and those at which its file system is mounted
// again. `text` is a mountinfo file.
std::vector<std::string> places_of(const std::string& directory, std::string_view text);

}  // namespace muster::node::shim
