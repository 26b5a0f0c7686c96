#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <thread>

#include "trainer/error.h"

namespace muster::trainer {

// The processes that train together, as the training loop sees them.
class Group {
 public:
  virtual ~Group() = default;

  // Replaces `values` by their sum over all processes, the same bytes for each.
  [[nodiscard]] virtual Result<void> sum(std::uint64_t step, std::span<double> values) = 0;

  // Waits, but not past the loss of a peer.
  [[nodiscard]] virtual Result<void> pause(std::chrono::milliseconds duration) = 0;
};

// A process that trains by itself.
class Alone final : public Group {
 public:
  Result<void> sum(std::uint64_t, std::span<double>) override { return {}; }
  Result<void> pause(std::chrono::milliseconds duration) override {
    std::this_thread::sleep_for(duration);
    return {};
  }
};

}  // namespace muster::trainer
