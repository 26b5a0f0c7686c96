#include "node/linux/homes.h"

#include <filesystem>

#include "node/linux/files.h"
#include "node/linux/user_namespace.h"

namespace muster::node::linux {

namespace {

// Without root only the homes of the same user can be looked into at all.
std::string directory() {
  const auto users = own_users();
  if (is_whole(users) || users.empty()) return "/run/muster-homes";
  return "/dev/shm/muster-homes-" + std::to_string(users.front().outside);
}

constexpr std::size_t kLongestPath = 4096;

}  // namespace

Result<void> remember_home(const std::string& key, const std::string& path) {
  const auto place = directory();
  TRY(make_directories(place.substr(0, place.rfind('/'))));
  TRY(make_private(place));
  for (const auto& known : known_homes()) {
    if (known == path) return {};
  }
  return write_durably(place + "/" + key, path);
}

std::vector<std::string> known_homes() {
  std::vector<std::string> homes;
  std::error_code error;
  for (std::filesystem::directory_iterator it(directory(), error), end; !error && it != end;
       it.increment(error)) {
    auto path = read_file(it->path().string(), kLongestPath);
    std::error_code unseen;
    if (!path || path->empty() || path->front() != '/') continue;
    if (std::filesystem::is_directory(*path, unseen)) {
      homes.push_back(std::move(*path));
    } else {
      std::filesystem::remove(it->path(), unseen);  // removed since
    }
  }
  return homes;
}

}  // namespace muster::node::linux
