#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "trainer/descriptor.h"
#include "trainer/error.h"

namespace muster::trainer {

// Proof that this process is the only one with its node id. The kernel lets go of the lock when the
// process ends, however it ends, so a replacement that starts too early is caught and one that
// starts in time is not.
class RankLock {
 public:
  // If another process holds DIR/<node id>.lock, adds a line to DIR/contention and fails with
  // RunningTwice.
  [[nodiscard]] static Result<RankLock> take(const std::filesystem::path& directory,
                                             const std::string& node_id);

 private:
  explicit RankLock(Descriptor file) : file_(std::move(file)) {}

  Descriptor file_;
};

}  // namespace muster::trainer
