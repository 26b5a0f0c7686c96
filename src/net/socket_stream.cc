#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "net/socket_internal.h"

namespace muster::net {

long receive_some(int fd, char* into, std::size_t size) {
  long count = 0;
  do {
    count = ::recv(fd, into, size, MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  return count;
}

long send_some(int fd, const char* bytes, std::size_t size) {
  long count = 0;
  do {
    count = ::send(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (count < 0 && errno == EINTR);
  return count;
}

bool socket_is_quiet(int fd) {
  char byte = 0;
  return ::recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EINTR);
}

Result<socklen_t> unix_address(const std::string& path, sockaddr_un& address) {
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return fail(ErrorCode::Invalid, fmt::format("socket path \"{}\": 1 to {} bytes are possible",
                                                path, sizeof(address.sun_path) - 1));
  }
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (!path.starts_with('@')) return socklen_t{sizeof(sockaddr_un)};
  address.sun_path[0] = '\0';
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
}

std::string client_of(int fd) {
  sockaddr_storage from{};
  socklen_t size = sizeof(from);
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&from), &size) != 0) return {};
  if (from.ss_family == AF_UNIX) {
    ucred who{};
    socklen_t who_size = sizeof(who);
    if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &who_size) != 0) return {};
    return fmt::format("uid {} pid {}", who.uid, who.pid);
  }
  char text[INET6_ADDRSTRLEN] = {};
  const void* address =
      from.ss_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(from).sin6_addr)
          : &reinterpret_cast<const sockaddr_in&>(from).sin_addr;
  ::inet_ntop(from.ss_family, address, text, sizeof(text));
  return text;
}

void set_no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void set_keep_alive(int fd) {
  // Asked after 20 s of silence, given up after 4 more tries 10 s apart: 60 s.
  const int on = 1;
  const int idle = 20;
  const int between = 10;
  const int tries = 4;
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof(between));
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof(tries));
}

Error as_stream_error(const Error& error) {
  if (error.code == ErrorCode::Cancelled) return error;
  return {.code = ErrorCode::Unavailable, .message = "the connection was closed"};
}

namespace {

std::unexpected<Error> broken(std::string_view what) {
  return fail(ErrorCode::Unavailable, fmt::format("{}: {}", what, std::strerror(errno)));
}

class SocketStream final : public Stream {
 public:
  SocketStream(rt::RealLoop& loop, int fd) : socket_(loop, fd) {}
  ~SocketStream() override { SocketStream::close(); }

  Task<Result<std::size_t>> read(std::span<char> into) override {
    while (true) {
      if (closed_) co_return fail(ErrorCode::Unavailable, "the connection was closed");
      const long count = receive_some(socket_.fd(), into.data(), into.size());
      if (count >= 0) co_return static_cast<std::size_t>(count);
      if (errno != EAGAIN) co_return broken("reading");
      const auto ready = co_await socket_.readable();
      if (!ready) co_return fail(as_stream_error(ready.error()));
    }
  }

  Task<Result<void>> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      if (closed_) co_return fail(ErrorCode::Unavailable, "the connection was closed");
      const long count = send_some(socket_.fd(), bytes.data(), bytes.size());
      if (count >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(count));
        continue;
      }
      if (errno != EAGAIN) co_return broken("writing");
      const auto ready = co_await socket_.writable();
      if (!ready) co_return fail(as_stream_error(ready.error()));
    }
    co_return Result<void>{};
  }

  Task<Result<void>> shutdown() override {
    if (!closed_ && ::shutdown(socket_.fd(), SHUT_WR) != 0) co_return broken("shutdown");
    co_return Result<void>{};
  }

  void close() override {
    if (std::exchange(closed_, true)) return;
    socket_.close();
  }

  bool quiet() override { return !closed_ && socket_is_quiet(socket_.fd()); }
  Peer peer() const override { return {.client = client()}; }
  std::string client() const override { return closed_ ? "" : client_of(socket_.fd()); }

 private:
  rt::Descriptor socket_;
  bool closed_ = false;
};

}  // namespace

std::unique_ptr<Stream> socket_stream(rt::RealLoop& loop, int fd) {
  return std::make_unique<SocketStream>(loop, fd);
}

}  // namespace muster::net
