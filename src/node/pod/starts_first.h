#pragma once

#include <functional>
#include <set>
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
      if (starts_ != nullptr && --starts_->going_on_ == 0) starts_->draw_breath();
    }

   private:
    StartsFirst* starts_;
  };

  // At most so many wait.
  StartsFirst(rt::Loop& loop, std::size_t most) : loop_(loop), most_(most) {}

  Start begin() { return Start(*this); }

  // Until nothing starts or it is urgent, which may change whenever `changed` pulses, and not
  // longer than that: what ended has an address, a few kernel objects and half a megabyte. Those
  // beyond the most that may wait do not.
  Task<void> give_way(rt::Event& changed, std::function<bool()> urgent) {
    if (waiting_.size() >= most_) co_return;
    waiting_.insert(&changed);
    const auto until = loop_.monotonic() + kLongest;
    bool cancelled = false;
    while (any_start() && !urgent() && loop_.monotonic() < until && !cancelled) {
      const auto waited =
          co_await rt::with_timeout(loop_, until - loop_.monotonic(), changed.wait());
      cancelled = !waited && waited.error().code == ErrorCode::Cancelled;
    }
    waiting_.erase(&changed);
  }

 private:
  static constexpr Duration kLongest = std::chrono::seconds(2);
  // Between two starts of a job is a moment, and so is between the last start and the end of a rank
  // that only had to say something; then somebody waits for the job's.
  static constexpr Duration kBreath = std::chrono::milliseconds(50);

  [[nodiscard]] bool any_start() const { return going_on_ > 0 || breath_.active(); }
  void draw_breath() {
    breath_.start(kBreath, [this] {
      if (going_on_ > 0) return;
      for (auto* const waiting : waiting_) waiting->pulse();
    });
  }

  rt::Loop& loop_;
  const std::size_t most_;
  int going_on_ = 0;
  rt::Timer breath_{loop_};
  std::set<rt::Event*> waiting_;
};

}  // namespace muster::node
