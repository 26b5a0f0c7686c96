#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "rt/loop.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::rt {

// Runs what blocks or burns (disk commits, name lookups, large decodes) off the loop. Work goes in
// as a value and comes back as a value. Threads are started when all others are busy. Joined on
// destruction; work that was queued still runs.
class Pool {
 public:
  explicit Pool(int most_threads) : most_threads_(static_cast<std::size_t>(most_threads)) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  void submit(Callback work);

  // Runs `work` on a worker and resumes on the loop with what it returned.
  // Cancelling the wait does not stop the work; its value is dropped then.
  template <class Work>
  Task<Result<std::invoke_result_t<Work>>> run(Loop& loop, Work work) {
    using Value = std::invoke_result_t<Work>;
    const Pending<Value> pending(loop);
    submit([&loop, pending, work = std::move(work)]() mutable {
      auto value = std::make_shared<Value>(work());
      loop.post_from_thread([pending, value] { pending.set(std::move(*value)); });
    });
    co_return co_await pending;
  }

 private:
  void serve();

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Callback> queue_;
  bool closing_ = false;
  std::size_t idle_ = 0;
  std::size_t most_threads_;
  std::vector<std::jthread> threads_;
};

}  // namespace muster::rt
