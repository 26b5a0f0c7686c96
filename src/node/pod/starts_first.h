#pragma once

#include <utility>

#include "rt/loop.h"
#include "rt/wait.h"

namespace muster::node {

// Pods that start go before the sandboxes of pods that ended: somebody waits for the first, and
// nobody for the second. Lives on the agent's loop and outlives all workers.
class StartsFirst {
 public:
  // A start that is going on, for as long as it lives.
  class [[nodiscard]] Start {
   public:
    explicit Start(StartsFirst& starts) : starts_(&starts) { ++starts.going_on_; }
    Start(Start&& other) noexcept : starts_(std::exchange(other.starts_, nullptr)) {}
    Start& operator=(Start&&) = delete;
    ~Start() {
      if (starts_ != nullptr && --starts_->going_on_ == 0) starts_->none_.pulse();
    }

   private:
    StartsFirst* starts_;
  };

  explicit StartsFirst(rt::Loop& loop) : loop_(loop), none_(loop) {}

  Start begin() { return Start(*this); }

  // Until nothing starts, or not longer than that: what ended has an address, a few kernel objects
  // and half a megabyte. Those beyond the most that may wait do not.
  Task<void> give_way() {
    if (going_on_ == 0 || waiting_ >= kMostWaiting) co_return;
    ++waiting_;
    [[maybe_unused]] const auto over = co_await rt::with_timeout(loop_, kLongest, none_.wait());
    --waiting_;
  }

 private:
  static constexpr Duration kLongest = std::chrono::seconds(2);
  // A node of a cluster has 253 addresses: half of them stay for those that start.
  static constexpr int kMostWaiting = 126;

  rt::Loop& loop_;
  rt::Event none_;
  int going_on_ = 0;
  int waiting_ = 0;
};

}  // namespace muster::node
