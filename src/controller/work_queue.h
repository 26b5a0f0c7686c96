#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/exposition.h"
#include "base/random.h"
#include "rt/loop.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::controller {

// Keys to be looked at, in the order they came. A key stands in the queue once, and is handed to
// one worker at a time: added while it is being worked on, it comes again afterwards. A key that
// keeps failing waits longer and longer, alone. Lives on the loop.
class WorkQueue {
 public:
  WorkQueue(rt::Loop& loop, Rng& rng) : loop_(loop), rng_(rng), ready_(loop) {}

  void add(const std::string& key);
  // Not before the delay has passed; the earliest of several wishes counts.
  void add_after(const std::string& key, Duration delay);
  // After a failure: 50 ms doubling to 60 s, with jitter, until succeeded().
  void add_failed(const std::string& key);
  void succeeded(const std::string& key) { failures_.erase(key); }

  Task<Result<std::string>> next();
  void done(const std::string& key);

  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  // How much waits and how long, in Prometheus' text form.
  void append_figures(std::string& out) const;
  [[nodiscard]] bool idle() const { return queue_.empty() && working_.empty(); }

 private:
  struct Delayed {
    Monotonic at;
    std::unique_ptr<rt::Timer> timer;
  };

  rt::Loop& loop_;
  Rng& rng_;
  rt::Event ready_;
  std::deque<std::string> queue_;
  std::map<std::string, Monotonic> queued_;   // since when
  std::map<std::string, Monotonic> working_;  // since when
  std::set<std::string> again_;
  std::map<std::string, Delayed> delayed_;
  std::map<std::string, int> failures_;
  std::uint64_t added_ = 0;
  std::uint64_t retried_ = 0;
  exposition::Histogram waited_;
};

}  // namespace muster::controller
