#include "node/shim/root/places.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "node/linux/files.h"
#include "node/shim/root/layers.h"
#include "node/shim/root/root.h"

namespace muster::node::shim {

namespace {

namespace fs = std::filesystem;

Result<void> make_like(const std::string& path, const struct stat& original) {
  if (::mkdir(path.c_str(), 0755) != 0) {
    if (errno == EEXIST) return {};
    return fail_errno("mkdir " + path);
  }
  if (::chown(path.c_str(), original.st_uid, original.st_gid) != 0 ||
      ::chmod(path.c_str(), original.st_mode & 07777) != 0) {
    return fail_errno("rights of " + path);
  }
  return {};
}

Result<void> make_new(const std::string& path, bool directory) {
  if (directory) return linux::make_directories(path, 0755);
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  return file.valid() ? Result<void>{} : fail_errno("create " + path);
}

// The path has no links and does not exist.
Result<bool> make_missing(const fs::path& path, bool directory, const struct stat& root,
                          const std::string& layer) {
  std::vector<std::pair<std::string, struct stat>> above;
  std::string missing;
  std::string walked;
  for (const auto& part : path.relative_path()) {
    if (missing.empty()) {
      const auto next = walked + "/" + part.string();
      struct stat status{};
      if (::stat(next.c_str(), &status) == 0) {
        if (status.st_dev != root.st_dev) return false;
        above.emplace_back(next, status);
        walked = next;
        continue;
      }
    }
    missing += "/" + part.string();
  }
  TRY(make_like(layer, root));
  for (const auto& [name, status] : above) TRY(make_like(layer + name, status));
  const auto last = missing.rfind('/');
  if (last > 0) TRY(make_new(layer + walked + missing.substr(0, last), true));
  TRY(make_new(layer + walked + missing, directory));
  return true;
}

}  // namespace

Result<bool> make_missing_places(const std::vector<Place>& wanted, const std::string& layer) {
  struct stat root{};
  if (::stat("/", &root) != 0) return fail_errno("stat /");
  bool any = false;
  for (const auto& place : wanted) {
    if (linux::exists(place.path) || is_made_anew(place.path)) continue;
    any = TRY(make_missing(place.path, place.directory, root, layer)) || any;
  }
  return any;
}

}  // namespace muster::node::shim
