#include "rt/real_loop.h"

#include "rt/loop_work.h"

#include <algorithm>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

namespace muster::rt {

namespace asio = boost::asio;

struct RealLoop::Impl {
  // Every callback of the loop runs in here: two looks at the clock, about 50 ns.
  void run(auto&& callback) {
    const auto from = std::chrono::steady_clock::now();
    callback();
    const Duration took = std::chrono::steady_clock::now() - from;
    longest_stall = std::max(longest_stall, took);
    recent_stall = std::max(recent_stall, took);
    work_done.count(took);
  }

  asio::io_context context{1};
  // Keeps run_one() waiting while only other threads or timers can bring work.
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  boost::unordered_flat_map<TimerId, std::unique_ptr<asio::steady_timer>> timers;
  TimerId last_timer = 0;
  Duration longest_stall{};
  Duration recent_stall{};
  LoopWork work_done;
};

RealLoop::RealLoop() : impl_(std::make_unique<Impl>()) {}
RealLoop::~RealLoop() = default;

void RealLoop::post(Callback callback) {
  asio::post(impl_->context, [impl = impl_.get(), callback = std::move(callback)]() mutable {
    impl->run(callback);
  });
}

void RealLoop::post_from_thread(Callback callback) {
  post(std::move(callback));
}

TimerId RealLoop::schedule(Monotonic at, Callback callback) {
  const TimerId id = ++impl_->last_timer;
  auto timer = std::make_unique<asio::steady_timer>(impl_->context);
  // Asio's clock stands still while the machine sleeps, ours does not: only differences of the two
  // agree. A timer that slept along fires late, never early.
  timer->expires_after(at - monotonic());
  timer->async_wait([this, id, callback = std::move(callback)](const auto&) mutable {
    // A cancelled timer was taken out of the table; only one still listed may fire.
    if (impl_->timers.erase(id) > 0) impl_->run(callback);
  });
  impl_->timers.emplace(id, std::move(timer));
  return id;
}

void RealLoop::cancel(TimerId timer) {
  impl_->timers.erase(timer);
}

Duration RealLoop::longest_stall() const {
  return impl_->longest_stall;
}

Duration RealLoop::take_recent_stall() {
  return std::exchange(impl_->recent_stall, Duration::zero());
}

LoopWork work_of(const RealLoop& loop) {
  return loop.impl().work_done;
}

void RealLoop::run_until(const bool& done) {
  while (!done) impl_->context.run_one();
}

struct Descriptor::Impl {
  Impl(RealLoop& on, int fd) : loop(on), stream(on.impl().context, fd) {}

  Task<Result<void>> wait(asio::posix::stream_descriptor::wait_type what) {
    if (!stream.is_open()) co_return fail(ErrorCode::Io, "the descriptor is closed");
    const Pending<void> pending(loop);
    stream.async_wait(what, [pending](const boost::system::error_code& error) {
      if (error) {
        pending.set(fail(ErrorCode::Io, error.message()));
      } else {
        pending.set({});
      }
    });
    co_return co_await pending;
  }

  RealLoop& loop;
  asio::posix::stream_descriptor stream;
};

Descriptor::Descriptor(RealLoop& loop, int fd) : impl_(std::make_unique<Impl>(loop, fd)) {}
Descriptor::Descriptor(Descriptor&&) noexcept = default;
Descriptor& Descriptor::operator=(Descriptor&&) noexcept = default;
Descriptor::~Descriptor() = default;

int Descriptor::fd() const {
  return impl_->stream.native_handle();
}

Task<Result<void>> Descriptor::readable() {
  return impl_->wait(asio::posix::stream_descriptor::wait_read);
}

Task<Result<void>> Descriptor::writable() {
  return impl_->wait(asio::posix::stream_descriptor::wait_write);
}

void Descriptor::close() {
  boost::system::error_code ignored;
  [[maybe_unused]] const auto result = impl_->stream.close(ignored);
}

struct Signals::Impl {
  Impl(RealLoop& on, const std::vector<int>& signals) : loop(on), set(on.impl().context) {
    for (const int signal : signals) set.add(signal);
  }
  RealLoop& loop;
  asio::signal_set set;
};

Signals::Signals(RealLoop& loop, std::vector<int> signals)
    : impl_(std::make_unique<Impl>(loop, signals)) {}
Signals::~Signals() = default;

Task<Result<int>> Signals::next() {
  const Pending<int> pending(impl_->loop);
  impl_->set.async_wait([pending](const boost::system::error_code& error, int signal) {
    if (error) {
      pending.set(fail(ErrorCode::Io, error.message()));
    } else {
      pending.set(signal);
    }
  });
  co_return co_await pending;
}

}  // namespace muster::rt
