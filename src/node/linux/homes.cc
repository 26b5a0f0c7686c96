#include "node/linux/homes.h"

#include <filesystem>

#include "node/linux/files.h"

namespace muster::node::linux {

namespace {

constexpr const char* kDirectory = "/run/muster-homes";
constexpr std::size_t kLongestPath = 4096;

}  // namespace

Result<void> remember_home(const std::string& key, const std::string& path) {
  TRY(make_directories(kDirectory, 0700));
  for (const auto& known : known_homes()) {
    if (known == path) return {};
  }
  return write_durably(std::string(kDirectory) + "/" + key, path);
}

std::vector<std::string> known_homes() {
  std::vector<std::string> homes;
  std::error_code error;
  for (std::filesystem::directory_iterator it(kDirectory, error), end; !error && it != end;
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
