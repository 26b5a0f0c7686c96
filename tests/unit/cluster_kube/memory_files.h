#pragma once

#include <map>
#include <string>

#include "cluster/kube/config/files.h"

namespace muster::cluster::kube {

// Files in memory.
class MemoryFiles final : public FileReader {
 public:
  std::map<std::string, std::string> files;

  [[nodiscard]] Result<std::string> read(const std::string& path) const override {
    const auto found = files.find(path);
    if (found == files.end()) return fail(ErrorCode::NotFound, path + ": no such file");
    return found->second;
  }
};

}  // namespace muster::cluster::kube
