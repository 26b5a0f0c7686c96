#include "node/linux/tree.h"

#include <dirent.h>
#include <fcntl.h>

#include <cstring>
#include <memory>
#include <set>
#include <utility>

#include "node/linux/beneath.h"

namespace muster::node::linux {

namespace {

constexpr std::int64_t kBlockBytes = 512;  // of st_blocks, whatever the file system says

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

struct Level {
  std::unique_ptr<DIR, CloseDirectory> entries;
  std::size_t path_size = 0;
};

// Takes over the descriptor.
bool enter(std::vector<Level>& levels, Fd directory, std::size_t path_size) {
  DIR* entries = ::fdopendir(directory.get());
  if (entries == nullptr) return false;
  [[maybe_unused]] const int taken = directory.release();
  levels.push_back(
      {.entries = std::unique_ptr<DIR, CloseDirectory>(entries), .path_size = path_size});
  return true;
}

Fd open_inside(int directory, const char* name) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  return Fd(::openat(directory, name, kFlags));
}

}  // namespace

bool walk_tree(const Fd& directory,
               const std::function<Visit(const std::string& path, const struct stat&)>& visit) {
  struct stat root{};
  if (::fstat(directory.get(), &root) != 0) return true;
  std::vector<Level> levels;
  std::string path;
  enter(levels, open_inside(directory.get(), "."), 0);
  while (!levels.empty()) {
    path.resize(levels.back().path_size);
    DIR* here = levels.back().entries.get();
    const dirent* entry = ::readdir(here);
    if (entry == nullptr) {
      levels.pop_back();
      continue;
    }
    const char* name = entry->d_name;
    if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
    struct stat status{};
    if (::fstatat(::dirfd(here), name, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (status.st_dev != root.st_dev) continue;
    if (!path.empty()) path += '/';
    path += name;
    const auto wanted = visit(path, status);
    if (wanted == Visit::Stop) return false;
    if (wanted == Visit::Skip || !S_ISDIR(status.st_mode) || levels.size() >= kDeepestTree)
      continue;
    enter(levels, open_inside(::dirfd(here), name), path.size());
  }
  return true;
}

DiskUse& DiskUse::operator+=(const DiskUse& other) {
  bytes += other.bytes;
  files += other.files;
  whole = whole && other.whole;
  return *this;
}

DiskUse disk_use(const std::string& directory, std::int64_t most_files) {
  DiskUse use;
  const auto root = open_root(directory);
  struct stat own{};
  if (!root || ::fstat(root->get(), &own) != 0) return use;
  use.bytes = own.st_blocks * kBlockBytes;
  std::set<ino_t> counted;  // those with several names; all are on one device
  use.whole = walk_tree(*root, [&](const std::string&, const struct stat& status) {
    if (use.files >= most_files) return Visit::Stop;
    ++use.files;
    const bool once = S_ISDIR(status.st_mode) || status.st_nlink < 2;
    if (once || counted.insert(status.st_ino).second) use.bytes += status.st_blocks * kBlockBytes;
    return Visit::Enter;
  });
  return use;
}

}  // namespace muster::node::linux
