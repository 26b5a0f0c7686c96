#pragma once

#include "trainer/group.h"

namespace muster::trainer {

// Gives up in the middle, as a ring does when a peer is lost.
class LosesPeer final : public Group {
 public:
  explicit LosesPeer(std::uint64_t step) : step_(step) {}
  Result<void> sum(std::uint64_t step, std::span<double>) override {
    return step == step_ ? Result<void>(peer_lost("w-1")) : Result<void>();
  }
  Result<void> pause(std::chrono::milliseconds) override { return {}; }

 private:
  std::uint64_t step_;
};

}  // namespace muster::trainer
