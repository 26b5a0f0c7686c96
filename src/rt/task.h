#pragma once

#include <coroutine>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace muster::rt {

template <class T>
class Task;

namespace detail {

// What every coroutine of ours carries: who continues after it, and when to give up.
struct PromiseBase {
  std::coroutine_handle<> continuation;
  std::stop_token stop;

  std::suspend_always initial_suspend() noexcept { return {}; }

  struct FinalAwaiter {
    bool await_ready() noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> handle) noexcept {
      return handle.promise().continuation ? handle.promise().continuation : std::noop_coroutine();
    }
    void await_resume() noexcept {}
  };
  FinalAwaiter final_suspend() noexcept { return {}; }

  // We throw nothing; what a library throws into a coroutine is a bug.
  [[noreturn]] void unhandled_exception() noexcept {
    check_failed(__FILE__, __LINE__, "an exception escaped into a coroutine");
  }
};

template <class T>
struct Promise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
};

template <>
struct Promise<void> : PromiseBase {
  Task<void> get_return_object();
  void return_void() {}
};

}  // namespace detail

// A coroutine that starts when it is awaited and gives one T. It runs on the loop of whoever awaits
// it. Parameters by value, or references to what provably outlives the awaiting scope.
template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::Promise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept
      : handle_(std::exchange(other.handle_, {})), own_stop_(other.own_stop_) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (handle_) handle_.destroy();
      handle_ = std::exchange(other.handle_, {});
      own_stop_ = other.own_stop_;
    }
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  // Awaits with another stop token than the awaiting task's.
  Task with_stop(std::stop_token stop) && {
    handle_.promise().stop = std::move(stop);
    own_stop_ = true;
    return std::move(*this);
  }

  struct Awaiter {
    Handle handle;
    bool own_stop;
    bool await_ready() const noexcept { return false; }
    template <class Parent>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Parent> parent) noexcept {
      handle.promise().continuation = parent;
      if (!own_stop) handle.promise().stop = parent.promise().stop;
      return handle;
    }
    T await_resume() {
      if constexpr (!std::is_void_v<T>) {
        CHECK(handle.promise().value.has_value());
        return std::move(*handle.promise().value);
      }
    }
  };
  Awaiter operator co_await() && noexcept { return {handle_, own_stop_}; }

 private:
  Handle handle_;
  bool own_stop_ = false;
};

template <class T>
Task<T> detail::Promise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<Promise<T>>::from_promise(*this));
}

inline Task<void> detail::Promise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<Promise<void>>::from_promise(*this));
}

// co_await current_stop() is the token that the running task was started with.
struct CurrentStop {
  std::stop_token token;
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
    token = handle.promise().stop;
    return false;
  }
  std::stop_token await_resume() noexcept { return std::move(token); }
};
inline CurrentStop current_stop() {
  return {};
}

}  // namespace muster::rt

namespace muster {
using rt::Task;
}  // namespace muster

// CO_TRY(co_await something()) is TRY for coroutines.
#define CO_TRY(expression) MUSTER_TRY_IMPL(expression, co_return)
