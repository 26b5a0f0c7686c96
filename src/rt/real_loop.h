#pragma once

#include <memory>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "rt/loop.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::rt {

// The loop of a running process: Asio's reactor on the calling thread.
class RealLoop final : public Loop {
 public:
  RealLoop();
  RealLoop(const RealLoop&) = delete;
  RealLoop& operator=(const RealLoop&) = delete;
  ~RealLoop() override;

  void post(Callback callback) override;
  void post_from_thread(Callback callback) override;
  TimerId schedule(Monotonic at, Callback callback) override;
  void cancel(TimerId timer) override;
  [[nodiscard]] const Clock& clock() const override { return clock_; }

  // The longest that one callback kept all others waiting, ever and since the last take.
  [[nodiscard]] Duration longest_stall() const;
  Duration take_recent_stall();

  // Runs until the task has ended and gives its value.
  template <class T>
  T run(Task<T> task);

  struct Impl;
  [[nodiscard]] Impl& impl() const { return *impl_; }

 private:
  void run_until(const bool& done);

  SystemClock clock_;
  std::unique_ptr<Impl> impl_;
};

// A non-blocking descriptor on a RealLoop: says when it can be read or written; reading and
// writing is the caller's. Owns the descriptor.
class Descriptor {
 public:
  Descriptor(RealLoop& loop, int fd);
  Descriptor(Descriptor&&) noexcept;
  Descriptor& operator=(Descriptor&&) noexcept;
  ~Descriptor();

  [[nodiscard]] int fd() const;
  Task<Result<void>> readable();
  Task<Result<void>> writable();
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Signals as values: next() waits for one of the set. While it lives they do not end the process.
class Signals {
 public:
  Signals(RealLoop& loop, std::vector<int> signals);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();
  Task<Result<int>> next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

namespace detail {
// Drives a task to its end and raises a flag.
struct RootDriver {
  struct promise_type {
    std::stop_token stop;
    RootDriver get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    [[noreturn]] void unhandled_exception() {
      check_failed(__FILE__, __LINE__, "an exception escaped into a coroutine");
    }
  };
  std::coroutine_handle<promise_type> handle;
};

template <class T>
RootDriver drive_root(Task<T> task, std::optional<T>& out, bool& done) {
  out.emplace(co_await std::move(task));
  done = true;
}
inline RootDriver drive_root(Task<void> task, bool& done) {
  co_await std::move(task);
  done = true;
}
}  // namespace detail

template <class T>
T RealLoop::run(Task<T> task) {
  bool done = false;
  if constexpr (std::is_void_v<T>) {
    post([handle = detail::drive_root(std::move(task), done).handle] { handle.resume(); });
    run_until(done);
  } else {
    std::optional<T> out;
    post([handle = detail::drive_root(std::move(task), out, done).handle] { handle.resume(); });
    run_until(done);
    return std::move(*out);
  }
}

}  // namespace muster::rt
