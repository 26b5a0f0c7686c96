#include "node/runtime/written_files.h"

#include <filesystem>

namespace muster::node {

namespace fs = std::filesystem;

std::int64_t count_files(const std::vector<std::string>& directories) {
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
      if (fs::is_regular_file(status) || fs::is_symlink(status)) ++count;
      if (count >= kMostCountedFiles) return count;
    }
  }
  return count;
}

}  // namespace muster::node
