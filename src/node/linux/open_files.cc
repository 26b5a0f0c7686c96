#include "node/linux/open_files.h"

#include <dirent.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <memory>
#include <set>
#include <utility>

namespace muster::node::linux {

namespace {

constexpr std::int64_t kBlockBytes = 512;  // of st_blocks, whatever the file system says

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// Memory has files without a name, too.
bool is_on_disk(const struct stat& status, const std::string& path, dev_t disk) {
  if (status.st_dev == disk) return true;
  struct statfs system{};
  return ::statfs(path.c_str(), &system) == 0 && system.f_type == OVERLAYFS_SUPER_MAGIC;
}

}  // namespace

DiskUse nameless_files(const std::vector<int>& processes, const std::string& directory) {
  DiskUse use;
  struct stat disk{};
  if (::stat(directory.c_str(), &disk) != 0) return use;
  std::set<std::pair<dev_t, ino_t>> counted;
  for (const int pid : processes) {
    const auto descriptors = "/proc/" + std::to_string(pid) + "/fd";
    const std::unique_ptr<DIR, CloseDirectory> entries(::opendir(descriptors.c_str()));
    if (!entries) continue;
    while (const dirent* entry = ::readdir(entries.get())) {
      const auto path = descriptors + "/" + entry->d_name;
      struct stat status{};
      if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_nlink > 0)
        continue;
      if (!is_on_disk(status, path, disk.st_dev)) continue;
      if (!counted.emplace(status.st_dev, status.st_ino).second) continue;
      use.bytes += status.st_blocks * kBlockBytes;
      ++use.files;
    }
  }
  return use;
}

}  // namespace muster::node::linux
