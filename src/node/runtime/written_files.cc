#include "node/runtime/written_files.h"

#include <filesystem>

#include "node/linux/files.h"
#include "node/shim/protocol.h"
#include "node/shim/root/root.h"

namespace muster::node {

namespace fs = std::filesystem;

std::int64_t count_files(const std::vector<std::string>& directories,
                         const std::set<std::string>& except) {
  std::int64_t count = 0;
  for (const auto& directory : directories) {
    std::error_code error;
    fs::recursive_directory_iterator entry(directory, fs::directory_options::skip_permission_denied,
                                           error);
    for (const fs::recursive_directory_iterator end; !error && entry != end;
         entry.increment(error)) {
      const auto status = entry->symlink_status(error);
      if (error) break;
      if (fs::is_directory(status) && entry->path().filename() == "__pycache__") {
        entry.disable_recursion_pending();
      }
      const bool file = fs::is_regular_file(status) || fs::is_symlink(status);
      if (file && !except.contains(entry->path().lexically_normal().string())) ++count;
      if (count >= kMostCountedFiles) return count;
    }
  }
  return count;
}

std::set<std::string> mounted_over(const std::string& attempt_directory,
                                   const std::string& layers) {
  std::set<std::string> files;
  const auto bytes = linux::read_file(attempt_directory + "/intent");
  if (!bytes) return files;
  const auto spec = shim::decode<ContainerSpec>(*bytes);
  if (!spec) return files;
  const auto add = [&](const std::string& target) {
    const auto upper = fs::path(layers) / shim::kUpperLayer;
    files.insert((upper / fs::path(target).relative_path()).lexically_normal().string());
  };
  for (const Mount& mount : spec->mounts) add(mount.target);
  for (const auto& own : {spec->termination_message_path, std::string("/etc/hosts"),
                          std::string("/etc/resolv.conf")}) {
    add(own);
  }
  return files;
}

}  // namespace muster::node
