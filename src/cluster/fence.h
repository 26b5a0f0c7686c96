#pragma once

namespace muster::cluster {

// The last question before something is written: may this process still change the cluster? Leader
// election answers it from the machine's clocks, so the answer turns to no without anybody running.
class Fence {
 public:
  virtual ~Fence() = default;
  [[nodiscard]] virtual bool may_write() const = 0;
};

}  // namespace muster::cluster
