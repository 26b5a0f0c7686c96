#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "json/value.h"

namespace muster::node {

inline constexpr const char* kGpuResource = "nvidia.com/gpu";

// Which pod has which GPUs, by UUID. Exclusive, and written down before it is used, one file a pod,
// so that a restart of Muster cannot hand one out twice. Lives on the agent's loop.
class GpuAllocator {
 public:
  using ByContainer = std::map<std::string, std::vector<std::string>>;

  // Reads what an earlier life wrote down. GPUs that the machine no longer has are dropped.
  static Result<GpuAllocator> create(std::string directory, std::vector<std::string> uuids);

  // What the pod's containers asked for; the same answer when asked again. Nothing when there are
  // not enough free ones now: ask again after a release.
  Result<std::optional<ByContainer>> assign(const json::Value& pod);
  void release(const std::string& pod_uid);
  [[nodiscard]] std::size_t free() const;
  // Pods that hold GPUs, or files of theirs.
  [[nodiscard]] std::vector<std::string> holders() const;

 private:
  GpuAllocator(std::string directory, std::vector<std::string> uuids)
      : directory_(std::move(directory)), uuids_(std::move(uuids)) {}
  [[nodiscard]] bool taken(const std::string& uuid) const;
  [[nodiscard]] std::string path_of(const std::string& pod_uid) const;

  std::string directory_;
  std::vector<std::string> uuids_;
  std::map<std::string, ByContainer> assigned_;  // by pod uid
};

}  // namespace muster::node
