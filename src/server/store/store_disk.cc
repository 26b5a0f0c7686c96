#include "server/store/store_disk.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/fd.h"

namespace muster::server {

Result<void> StoreDisk::make_file(const std::string& path) {
  const Fd made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!made.valid()) return fail_errno("open " + path);
  return {};
}

Result<void> StoreDisk::sync_folder(const std::string& folder) {
  const Fd directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid() || ::fsync(directory.get()) != 0) return fail_errno("sync " + folder);
  return {};
}

std::uint64_t StoreDisk::size(const std::string& folder) const {
  struct statvfs room{};
  if (::statvfs(folder.c_str(), &room) != 0) return 0;
  return std::uint64_t{room.f_frsize} * room.f_blocks;
}

StoreDisk& StoreDisk::real() {
  static StoreDisk disk;  // has no state
  return disk;
}

}  // namespace muster::server
