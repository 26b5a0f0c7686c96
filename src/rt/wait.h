#pragma once

#include <coroutine>
#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "rt/loop.h"
#include "rt/task.h"

// What tasks wait on. All of it lives on one loop; a waiter resumes through the loop, never inside
// the call that woke it, so nobody is re-entered. Every wait ends with Cancelled when the waiting
// task is stopped, and a wait that ended does not take a value away.
namespace muster::rt {

// One value for one waiter. The sender may set it before, during or after the wait, from the loop.
template <class T>
class Pending {
 public:
  explicit Pending(Loop& loop) : state_(std::make_shared<State>(loop)) {}

  // The first value counts; later ones are dropped. Copies share the state, so that a callback can
  // hold one and outlive the waiter.
  void set(Result<T> value) const {
    if (state_->value) return;
    state_->value.emplace(std::move(value));
    state_->wake();
  }
  [[nodiscard]] bool is_set() const { return state_->value.has_value(); }

  auto operator co_await() const { return Awaiter{state_, std::nullopt}; }

 private:
  struct State {
    explicit State(Loop& on) : loop(on) {}
    void wake() {
      if (waiter) loop.post([handle = std::exchange(waiter, {})] { handle.resume(); });
    }
    Loop& loop;
    std::optional<Result<T>> value;
    std::coroutine_handle<> waiter;
  };

  struct OnStop {
    std::weak_ptr<State> state;
    void operator()() const {
      const auto alive = state.lock();
      if (!alive || alive->value) return;
      alive->value.emplace(fail(ErrorCode::Cancelled, "cancelled"));
      alive->wake();
    }
  };

  struct Awaiter {
    std::shared_ptr<State> state;
    std::optional<std::stop_callback<OnStop>> on_stop;

    bool await_ready() const noexcept { return state->value.has_value(); }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> handle) {
      CHECK(!state->waiter);
      on_stop.emplace(handle.promise().stop, OnStop{state});
      if (state->value) return false;  // the token was stopped already
      state->waiter = handle;
      return true;
    }
    Result<T> await_resume() {
      on_stop.reset();
      return std::move(*state->value);
    }
  };

  std::shared_ptr<State> state_;
};

// Completes after the duration, or Cancelled.
inline Task<Result<void>> sleep_for(Loop& loop, Duration duration) {
  Pending<void> pending(loop);
  Timer timer(loop, duration, [pending] { pending.set({}); });
  co_return co_await pending;
}

// Lets everything that is ready run first.
inline Task<Result<void>> yield(Loop& loop) {
  Pending<void> pending(loop);
  loop.post([pending] { pending.set({}); });
  co_return co_await pending;
}

// The task's result, or Timeout after the limit; the task is cancelled then and has ended on
// return.
template <class T>
Task<Result<T>> with_timeout(Loop& loop, Duration limit, Task<Result<T>> task) {
  std::stop_source stop;
  const auto on_parent = [&stop] { stop.request_stop(); };
  const std::stop_callback linked(co_await current_stop(), on_parent);
  bool timed_out = false;
  Timer timer(loop, limit, [&] {
    timed_out = true;
    stop.request_stop();
  });
  auto guarded = std::move(task).with_stop(stop.get_token());
  Result<T> result = co_await std::move(guarded);
  if (timed_out && !result && result.error().code == ErrorCode::Cancelled) {
    co_return fail(ErrorCode::Timeout, "no answer in time");
  }
  co_return result;
}

// A flag that many may wait for. set() wakes everyone; reset() closes it again.
class Event {
 public:
  explicit Event(Loop& loop) : loop_(loop) {}
  void set() {
    set_ = true;
    for (const auto& waiter : std::exchange(waiters_, {})) waiter.set({});
  }
  void reset() { set_ = false; }
  // Wakes those who wait now, and leaves the flag as it is.
  void pulse() {
    for (const auto& waiter : std::exchange(waiters_, {})) waiter.set({});
  }
  [[nodiscard]] bool is_set() const { return set_; }
  Task<Result<void>> wait() {
    if (set_) co_return Result<void>{};
    std::erase_if(waiters_, [](const auto& waiter) { return waiter.is_set(); });  // cancelled ones
    const Pending<void> pending(loop_);
    waiters_.push_back(pending);
    co_return co_await pending;
  }

 private:
  Loop& loop_;
  bool set_ = false;
  std::vector<Pending<void>> waiters_;
};

// A bounded queue for one consumer. A producer that finds it full is told so and decides itself.
template <class T>
class Channel {
 public:
  Channel(Loop& loop, std::size_t capacity) : capacity_(capacity), ready_(loop) {}

  // False when the queue is full or closed; the value is then dropped.
  [[nodiscard]] bool push(T value) {
    if (closed_ || items_.size() >= capacity_) return false;
    items_.push_back(std::move(value));
    ready_.set();
    return true;
  }
  // What is queued can still be taken; after it pop() gives this error.
  void close(Error reason) {
    if (closed_) return;
    closed_ = std::move(reason);
    ready_.set();
  }
  [[nodiscard]] bool closed() const { return closed_.has_value(); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }

  Task<Result<T>> pop() {
    while (items_.empty()) {
      if (closed_) co_return fail(*closed_);
      ready_.reset();
      CO_TRY(co_await ready_.wait());
    }
    T value = std::move(items_.front());
    items_.pop_front();
    co_return value;
  }

 private:
  std::size_t capacity_;
  std::deque<T> items_;
  std::optional<Error> closed_;
  Event ready_;
};

// Lets at most `permits` through at a time; the rest wait in order.
class Gate {
 public:
  Gate(Loop& loop, int permits) : loop_(loop), free_(permits) {}

  class [[nodiscard]] Permit {
   public:
    explicit Permit(Gate* gate) : gate_(gate) {}
    Permit(Permit&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Permit& operator=(Permit&&) = delete;
    ~Permit() {
      if (gate_ != nullptr) gate_->release();
    }

   private:
    Gate* gate_;
  };

  Task<Result<Permit>> enter() {
    while (free_ <= 0) {
      const Pending<void> turn(loop_);
      waiters_.push_back(turn);
      auto waited = co_await turn;
      if (!waited) {
        wake_next();  // the turn may have been given to us just before we were cancelled
        co_return fail(waited.error());
      }
    }
    --free_;
    co_return Permit(this);
  }
  // More or fewer permits from now on; those inside stay.
  void resize(int by) {
    free_ += by;
    wake_next();
  }
  [[nodiscard]] int free() const { return free_; }

 private:
  void release() {
    ++free_;
    wake_next();
  }
  void wake_next() {
    while (free_ > 0 && !waiters_.empty()) {
      const auto next = waiters_.front();
      waiters_.pop_front();
      if (next.is_set()) continue;  // cancelled meanwhile
      next.set({});
      return;
    }
  }

  Loop& loop_;
  int free_;
  std::deque<Pending<void>> waiters_;
};

}  // namespace muster::rt
