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
  // not enough free ones now: ask again when a pod was forgotten.
  Result<std::optional<ByContainer>> assign(const json::Value& pod);
  // The file that says what the pod has. To release: remove it, then forget().
  [[nodiscard]] std::string record_of(const std::string& pod_uid) const;
  void forget(const std::string& pod_uid);
  [[nodiscard]] std::size_t free() const;
  // Pods that hold GPUs, or files of theirs.
  [[nodiscard]] std::vector<std::string> holders() const;

 private:
  GpuAllocator(std::string directory, std::vector<std::string> uuids)
      : directory_(std::move(directory)), uuids_(std::move(uuids)) {}
  [[nodiscard]] bool taken(const std::string& uuid) const;

  std::string directory_;
  std::vector<std::string> uuids_;
  std::map<std::string, ByContainer> assigned_;  // by pod uid
};

}  // namespace muster::node
