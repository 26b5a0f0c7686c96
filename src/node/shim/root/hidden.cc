#include "node/shim/root/hidden.h"

#include <fcntl.h>
#include <sys/mount.h>

#include <algorithm>
#include <filesystem>

#include "node/linux/beneath.h"
#include "node/linux/files.h"
#include "node/linux/homes.h"
#include "node/shim/root/mounts.h"
#include "node/shim/root/root.h"

namespace muster::node::shim {

std::vector<std::string> hidden_places(const std::string& home, std::string_view mounts) {
  std::vector<std::string> places;
  if (home.empty()) return places;
  auto homes = linux::known_homes();
  homes.push_back(home);
  for (const auto& one : homes) {
    for (auto& place : places_of(one, mounts)) places.push_back(std::move(place));
  }
  // Each covered once: mostly the home is among the known ones.
  std::ranges::sort(places);
  const auto twice = std::ranges::unique(places);
  places.erase(twice.begin(), twice.end());
  return places;
}

namespace {

constexpr const char* kMemory = "/dev/shm";

// What homes keep in memory: their pods' records and sockets, and secrets.
std::vector<std::string> memory_of_homes() {
  std::vector<std::string> places;
  std::error_code error;
  for (std::filesystem::directory_iterator it(kMemory, error), end; !error && it != end;
       it.increment(error)) {
    const auto name = it->path().filename().string();
    if (name.starts_with("muster-pods-") || name.starts_with("muster-node-"))
      places.push_back(it->path().string());
  }
  return places;
}

}  // namespace

std::vector<std::string> hidden_in(const std::string& source, const std::string& target,
                                   const std::vector<std::string>& hidden) {
  std::vector<std::string> found;
  auto places = hidden;
  if (is_below(kMemory, source)) {
    for (auto& place : memory_of_homes()) places.push_back(std::move(place));
  }
  for (const auto& place : places) {
    if (!is_below(place, source)) continue;
    found.push_back(target + (source == "/" ? place : place.substr(source.size())));
  }
  return found;
}

Result<void> hide(const std::string& path) {
  const auto root = TRY(linux::open_root("/"));
  const auto place =
      linux::open_within(root.get(), path, O_PATH | O_DIRECTORY, linux::Walk::InRoot);
  if (!place) return {};  // nothing of it can be seen here
  // Whoever's working directory is in it gets a new one, so it can be written to.
  return mount_new("tmpfs", linux::descriptor_path(place->get()), MS_NOSUID | MS_NODEV | MS_NOEXEC,
                   "size=1m,mode=755");
}

}  // namespace muster::node::shim
