#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

// Small facts of file systems and the clock, one function each.
namespace muster::node::linux {

// Whole contents, at most `limit` bytes of it.
Result<std::string> read_file(const std::string& path, std::size_t limit = std::size_t{16} << 20U);
// One write to a file that exists: cgroup and sysctl files want it so.
Result<void> write_existing(const std::string& path, std::string_view text);
// The file is there as a whole and on the disk, or not at all: written beside it, synced, renamed.
Result<void> write_durably(const std::string& path, std::string_view bytes);
// The directory and all above it.
Result<void> make_directories(const std::string& path, unsigned mode = 0755);
Result<void> remove_tree(const std::string& path);
// A directory that only we can enter: where everybody may write, somebody may have been before us.
Result<void> make_private(const std::string& path);
// The whole of it or nothing of it is there; what is in memory needs no more.
Result<void> replace_file(const std::string& path, std::string_view bytes);
// What was made or removed in the directory stays so when the machine loses its power.
Result<void> sync_directory(const std::string& path);
// What is made in the directory from now on lies elsewhere on the disk, for file systems that look
// after such things. Where files come and go by the thousand in one place, ext4 looks at all that
// went lately before it makes one; and looking for another place takes it a tenth of a millisecond,
// so some dozens of entries share one (kEntriesTogether).
void move_elsewhere(const std::string& directory);
inline constexpr int kEntriesTogether = 64;
bool exists(const std::string& path);

Time now();
// When it was last written to; the epoch where there is none.
Time changed_at(const std::string& path);

// A name that is one path component and nothing else.
bool is_safe_name(std::string_view name);

}  // namespace muster::node::linux
