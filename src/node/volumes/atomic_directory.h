#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>

#include "base/error.h"

namespace muster::node {

struct FilePayload {
  std::string bytes;
  mode_t mode = 0644;
  std::optional<gid_t> group = std::nullopt;  // without: that of who writes it
  friend bool operator==(const FilePayload&, const FilePayload&) = default;
};
using Payload = std::map<std::string, FilePayload>;  // by relative path

// Makes `directory` hold exactly these files, all at once for whoever reads them: the files are in
// a dated directory, `..data` points to it, and visible names point through `..data`. Changes
// nothing when the content is the same. A path must be relative and have no "..".
Result<void> write_atomic_directory(const std::string& directory, const Payload& payload);

}  // namespace muster::node
