#include "node/runtime/shim_client.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "base/fd.h"
#include "node/shim/protocol.h"
#include "node/shim/wire.h"

namespace muster::node {

namespace {

using namespace std::chrono_literals;

// The directories of earlier Musters' pods may be longer than a socket address: we go through a
// descriptor of such a one.
Task<Result<Fd>> connect(rt::RealLoop& loop, std::string pod_directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  auto path = pod_directory + "/control";
  Fd directory;
  if (path.size() >= sizeof address.sun_path) {
    directory = Fd(::open(pod_directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!directory.valid()) co_return fail(ErrorCode::Gone, "no such pod: " + pod_directory);
    path = fmt::format("/proc/self/fd/{}/control", directory.get());
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) co_return fail_errno("socket");
  while (::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) co_return fail(ErrorCode::Gone, "the pod's shim is gone");
    CO_TRY(co_await rt::sleep_for(loop, 1ms));  // its queue is full
  }
  co_return fd;
}

Task<Result<void>> send_all(rt::Descriptor& descriptor, std::string bytes) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const auto sent = ::send(descriptor.fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      rest.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      CO_TRY(co_await descriptor.writable());
    } else if (errno != EINTR) {
      co_return fail(ErrorCode::Gone, "the pod's shim hung up");
    }
  }
  co_return Result<void>{};
}

// Adds what has come to the buffer; waits for it.
Task<Result<void>> read_some(rt::Descriptor& descriptor, std::string& buffer) {
  while (true) {
    char chunk[16384];
    const auto got = ::read(descriptor.fd(), chunk, sizeof chunk);
    if (got > 0) {
      buffer.append(chunk, static_cast<std::size_t>(got));
      co_return Result<void>{};
    }
    if (got < 0 && errno == EAGAIN) {
      CO_TRY(co_await descriptor.readable());
    } else if (got == 0 || errno != EINTR) {
      co_return fail(ErrorCode::Gone, "the pod's shim died");
    }
  }
}

// A program that a shim runs. Closing the connection ends it.
class ShimSession final : public rt::RemoteProgram {
 public:
  ShimSession(rt::RealLoop& loop, rt::Descriptor descriptor, std::string received)
      : descriptor_(std::move(descriptor)), buffer_(std::move(received)), writing_(loop, 1) {}

  Task<Result<Event>> next() override {
    while (true) {
      auto payload = CO_TRY(shim::take_frame(buffer_));
      if (payload) co_return read_event(*payload);
      CO_TRY(co_await read_some(descriptor_, buffer_));
    }
  }
  Task<Result<void>> write(std::string bytes) override {
    return say(shim::SessionFrame::Input, std::move(bytes));
  }
  Task<Result<void>> end_input() override { return say(shim::SessionFrame::EndInput, ""); }
  Task<Result<void>> resize(rt::WindowSize size) override {
    return say(shim::SessionFrame::Resize,
               shim::Writer().number(size.columns).number(size.rows).bytes());
  }

 private:
  static Result<Event> read_event(std::string_view payload) {
    if (payload.empty()) return fail(ErrorCode::Parse, "an empty frame of a shim");
    const std::string_view bytes = payload.substr(1);
    switch (static_cast<shim::SessionFrame>(payload.front())) {
      case shim::SessionFrame::Output:
        return rt::ProgramOutput{.bytes = std::string(bytes)};
      case shim::SessionFrame::ErrorOutput:
        return rt::ProgramOutput{.stream = rt::ProgramOutput::Stream::Stderr,
                                 .bytes = std::string(bytes)};
      case shim::SessionFrame::Exit: {
        shim::Reader in(bytes);
        const auto code = static_cast<int>(in.number());
        if (in.finished()) return rt::ProgramExit{.code = code};
        break;
      }
      default:
        break;
    }
    return fail(ErrorCode::Parse, "a frame of a shim that nobody knows");
  }

  Task<Result<void>> say(shim::SessionFrame kind, std::string bytes) {
    const auto permit = CO_TRY(co_await writing_.enter());
    auto sent = co_await send_all(descriptor_, shim::session_frame(kind, bytes));
    // It has ended; what is to be known of that comes with next().
    if (!sent && sent.error().code == ErrorCode::Gone) co_return Result<void>{};
    co_return sent;
  }

  rt::Descriptor descriptor_;
  std::string buffer_;
  rt::Gate writing_;
};

}  // namespace

Task<Result<std::string>> read_shim_answer(rt::Descriptor& descriptor, std::string& buffer) {
  while (true) {
    auto payload = CO_TRY(shim::take_frame(buffer));
    if (payload) {
      std::string_view bytes = *payload;
      CO_TRY(shim::take_known_version(bytes));
      shim::Reader in(bytes);
      CO_TRY(shim::read_answer(in));
      co_return std::string(bytes.substr(sizeof(std::int64_t)));
    }
    CO_TRY(co_await read_some(descriptor, buffer));
  }
}

Task<Result<std::string>> ShimQuestion::next_answer() {
  return read_shim_answer(descriptor_, buffer_);
}

Task<Result<ShimQuestion>> put_to_shim(rt::RealLoop& loop, std::string pod_directory,
                                       std::string request, int version) {
  auto fd = CO_TRY(co_await connect(loop, std::move(pod_directory)));
  rt::Descriptor descriptor(loop, fd.release());
  CO_TRY(co_await send_all(descriptor, shim::frame(shim::with_version(request, version))));
  co_return ShimQuestion(std::move(descriptor));
}

Task<Result<std::unique_ptr<rt::RemoteProgram>>> open_shim_session(rt::RealLoop& loop,
                                                                   std::string pod_directory,
                                                                   std::string request,
                                                                   int version) {
  auto fd = CO_TRY(co_await connect(loop, std::move(pod_directory)));
  rt::Descriptor descriptor(loop, fd.release());
  CO_TRY(co_await send_all(descriptor, shim::frame(shim::with_version(request, version))));
  std::string buffer;
  CO_TRY(co_await read_shim_answer(descriptor, buffer));
  co_return std::make_unique<ShimSession>(loop, std::move(descriptor), std::move(buffer));
}

}  // namespace muster::node
