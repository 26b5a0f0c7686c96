#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "node/shim/protocol.h"

// Small facts of the kernel and of a pod's directory, one function each.
namespace muster::node::shim {

// Whole contents, at most `limit` bytes of it.
Result<std::string> read_file(const std::string& path, std::size_t limit = std::size_t{16} << 20U);
// One write to a file that exists: cgroup and sysctl files want it so.
Result<void> write_existing(const std::string& path, std::string_view text);
// The file is there as a whole and on the disk, or not at all: written beside it, synced, renamed.
Result<void> write_durably(const std::string& path, std::string_view bytes);
// The directory and all above it.
Result<void> make_directories(const std::string& path, unsigned mode = 0755);
Result<void> remove_tree(const std::string& path);
bool exists(const std::string& path);

std::string boot_id();
// In clock ticks since boot; 0 when there is no such process.
std::uint64_t start_time_of(int pid);
ProcessIdentity identity_of(int pid);
// True while that very process lives (a zombie does not).
bool is_alive(const ProcessIdentity& identity);
// Signals that process, and never one that took its number.
bool signal_process(const ProcessIdentity& identity, int signal);

Time now();

// A name that is one path component and nothing else.
bool is_safe_name(std::string_view name);

std::string container_directory(const std::string& pod_directory, const ContainerId& id);

// All attempts on record in a pod's directory, in order. One that started and has no exit has
// `exit` empty; attempts that were never executed are left out.
std::vector<AdoptedContainer> read_containers(const std::string& pod_directory,
                                              const std::string& log_directory);
std::string container_log(const std::string& log_directory, const ContainerId& id);

}  // namespace muster::node::shim
