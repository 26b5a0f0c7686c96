#include "cli/manifests/lost_files.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/object.h"
#include "node/agent/options.h"
#include "node/pod/container/environment.h"
#include "node/runtime/written_files.h"

namespace muster::cli {

void LostFiles::see(const json::Value& pod) {
  const auto count = pod["status"][node::kStatusOfMuster][node::kLostFiles].as_int();
  if (count <= 0) return;
  auto& known = by_pod_[api::uid_of(pod)];
  known = std::max(known, count);
  if (directory_.empty()) directory_ = node::submitter_directory(pod);
}

std::optional<std::string> LostFiles::sentence(const std::string& here) const {
  std::int64_t files = 0;
  bool more = false;
  for (const auto& [uid, count] : by_pod_) {
    files += count;
    more = more || count >= node::kMostCountedFiles;
  }
  if (files == 0) return std::nullopt;
  const bool in_sight = directory_ == here;
  return fmt::format("{}{} written below {} {} not kept; to keep such files: --mount {}",
                     more ? "at least " : "",
                     files == 1 ? "1 file" : fmt::format("{} files", files),
                     in_sight ? "this directory" : directory_, files == 1 ? "was" : "were",
                     in_sight ? "." : directory_);
}

}  // namespace muster::cli
