#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <stop_token>

#include "rt/loop.h"
#include "rt/task.h"
#include "rt/wait.h"

namespace muster::rt {

// Owns running tasks. Nothing runs outside a scope, and a scope ends only when all of its tasks
// have: close() asks them to stop and waits. Destroying a scope with tasks inside is a bug.
class TaskScope {
 public:
  explicit TaskScope(Loop& loop) : loop_(loop), idle_(loop) { idle_.set(); }
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;
  ~TaskScope() { CHECK(running_ == 0); }

  // Starts the task on the loop, after what is running now.
  void spawn(Task<void> task) {
    ++running_;
    idle_.reset();
    Driver driver = drive(std::move(task), *this);
    driver.handle.promise().stop = stop_.get_token();
    loop_.post([handle = driver.handle] { handle.resume(); });
  }

  void request_stop() { stop_.request_stop(); }
  [[nodiscard]] bool stopping() const { return stop_.stop_requested(); }
  [[nodiscard]] std::size_t running() const { return running_; }

  // Cancels all tasks and waits until the last one ended, also when the caller itself is cancelled.
  Task<void> close() {
    request_stop();
    return join();
  }
  // Waits for the tasks to end by themselves.
  Task<void> join() {
    while (running_ > 0) {
      auto wait = idle_.wait().with_stop(std::stop_token());
      [[maybe_unused]] const auto waited = co_await std::move(wait);
    }
  }

 private:
  // A coroutine that owns itself: it is destroyed when the task it drives has ended.
  struct Driver {
    struct promise_type {
      std::stop_token stop;
      Driver get_return_object() {
        return {std::coroutine_handle<promise_type>::from_promise(*this)};
      }
      std::suspend_always initial_suspend() noexcept { return {}; }
      std::suspend_never final_suspend() noexcept { return {}; }
      void return_void() {}
      [[noreturn]] void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
  };

  static Driver drive(Task<void> task, TaskScope& scope) {
    {
      // The task's frame goes before the scope learns that it ended.
      Task<void> owned = std::move(task);
      co_await std::move(owned);
    }
    if (--scope.running_ == 0) scope.idle_.set();
  }

  Loop& loop_;
  std::stop_source stop_;
  std::size_t running_ = 0;
  Event idle_;
};

}  // namespace muster::rt
