#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "rt/loop.h"
#include "rt/pool.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::node {

// Where the node's work on files is done: never on the loop, which a slow disk or a tree of a
// million files would stop. Work goes in as a value and comes back as a value. Lives on the loop;
// work that was handed over is done even when nobody waits for it any more.
class DiskWork {
 public:
  explicit DiskWork(rt::Loop& loop) : loop_(loop) {}
  DiskWork(const DiskWork&) = delete;
  DiskWork& operator=(const DiskWork&) = delete;
  virtual ~DiskWork() = default;

  // `work` gives a Result, and so does the wait for it.
  template <class Work>
  Task<std::invoke_result_t<Work>> run(Work work) {
    using Outcome = std::invoke_result_t<Work>;
    const rt::Pending<Outcome> pending(loop_);
    auto outcome = std::make_shared<std::optional<Outcome>>();
    submit([outcome, work = std::move(work)]() mutable { outcome->emplace(work()); },
           [outcome, pending] { pending.set(std::move(**outcome)); });
    auto waited = co_await pending;
    if (!waited) co_return fail(waited.error());
    co_return std::move(*waited);
  }

 protected:
  // Runs `work`, then `then` on the loop.
  virtual void submit(rt::Callback work, rt::Callback then) = 0;
  [[nodiscard]] rt::Loop& loop() const { return loop_; }

 private:
  rt::Loop& loop_;
};

// On the threads of the pool. Loop and pool outlive it.
class PoolDiskWork final : public DiskWork {
 public:
  PoolDiskWork(rt::Loop& loop, rt::Pool& pool) : DiskWork(loop), pool_(pool) {}

 private:
  void submit(rt::Callback work, rt::Callback then) override {
    pool_.submit([&loop = loop(), work = std::move(work), then = std::move(then)]() mutable {
      work();
      loop.post_from_thread(std::move(then));
    });
  }

  rt::Pool& pool_;
};

}  // namespace muster::node
