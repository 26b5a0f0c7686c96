#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "net/socket_internal.h"

namespace muster::net {

namespace {

constexpr int kBacklog = 1024;

class SocketListener final : public Listener {
 public:
  SocketListener(rt::RealLoop& loop, Fd socket, std::uint16_t port, std::string name,
                 std::optional<TlsContext> tls, bool keep_alive = false)
      : loop_(loop),
        socket_(loop, socket.release()),
        port_(port),
        name_(std::move(name)),
        tls_(std::move(tls)),
        keep_alive_(keep_alive) {}
  ~SocketListener() override { SocketListener::close(); }

  // A UNIX socket's file, removed at the end if it is still this one.
  void owns_file(std::string path) {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return;
    path_ = std::move(path);
    inode_ = info.st_ino;
  }

  Task<Result<std::unique_ptr<Stream>>> accept() override {
    while (!closed_) {
      Fd connection(::accept4(socket_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (connection.valid()) {
        if (port_ != 0) set_no_delay(connection.get());
        if (keep_alive_) set_keep_alive(connection.get());
        if (tls_) co_return tls_accept(loop_, std::move(connection), *tls_);
        co_return socket_stream(loop_, connection.release());
      }
      if (errno == EAGAIN) {
        CO_TRY(co_await socket_.readable());
      } else if (errno != EINTR && errno != ECONNABORTED) {
        co_return fail_errno("accepting a connection at " + name_);
      }
    }
    co_return fail(ErrorCode::Io, name_ + " is closed");
  }

  void close() override {
    if (std::exchange(closed_, true)) return;
    socket_.close();
    struct stat info{};
    if (!path_.empty() && ::stat(path_.c_str(), &info) == 0 && info.st_ino == inode_) {
      ::unlink(path_.c_str());
    }
  }

  Task<Result<void>> knocked() override { return socket_.readable(); }
  void use_tls(TlsContext context) override { tls_ = std::move(context); }
  std::uint16_t port() const override { return port_; }
  std::string describe() const override { return name_; }

 private:
  rt::RealLoop& loop_;
  rt::Descriptor socket_;
  std::uint16_t port_;
  std::string name_;
  std::optional<TlsContext> tls_;
  bool keep_alive_;
  std::string path_;
  ino_t inode_ = 0;
  bool closed_ = false;
};

// Removes a socket file that nobody serves any more; an error if somebody does.
Result<void> remove_stale(const sockaddr_un& name) {
  struct stat info{};
  if (::lstat(name.sun_path, &info) != 0) return {};
  if (!S_ISSOCK(info.st_mode)) {
    return fail(ErrorCode::AlreadyExists,
                fmt::format("{} exists and is not a socket", name.sun_path));
  }
  const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto* address = reinterpret_cast<const sockaddr*>(&name);
  if (::connect(probe.get(), address, sizeof(name)) == 0 || errno != ECONNREFUSED) {
    return fail(ErrorCode::AlreadyExists, fmt::format("another process serves {}", name.sun_path));
  }
  ::unlink(name.sun_path);
  return {};
}

}  // namespace

Result<std::unique_ptr<Listener>> listen_unix(rt::RealLoop& loop, std::string path) {
  sockaddr_un name{};
  const auto size = TRY(unix_address(path, name));
  const bool is_file = !path.starts_with('@');
  if (is_file) TRY(remove_stale(name));
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return fail_errno("socket");
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), size) != 0) {
    return fail_errno("bind " + path);
  }
  // Nobody can connect before listen(), so the mode is never wider for a moment.
  if (is_file && ::chmod(path.c_str(), 0600) != 0) return fail_errno("chmod " + path);
  if (::listen(socket.get(), kBacklog) != 0) return fail_errno("listen " + path);
  auto listener = std::make_unique<SocketListener>(loop, std::move(socket), std::uint16_t{0},
                                                   "unix:" + path, std::nullopt);
  if (is_file) listener->owns_file(std::move(path));
  return std::unique_ptr<Listener>(std::move(listener));
}

Result<std::unique_ptr<Listener>> listen_tcp(rt::RealLoop& loop, TcpListenOptions options) {
  sockaddr_storage storage{};
  auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
  socklen_t size = 0;
  if (::inet_pton(AF_INET, options.address.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(options.port);
    size = sizeof(v4);
  } else if (::inet_pton(AF_INET6, options.address.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(options.port);
    size = sizeof(v6);
  } else {
    return fail(ErrorCode::Invalid, fmt::format("\"{}\" is not an IP address", options.address));
  }
  Fd socket(::socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return fail_errno("socket");
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (options.address == "::") {
    // All addresses are IPv4's too, whatever net.ipv6.bindv6only says.
    const int off = 0;
    ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
  }
  if (!options.device.empty() &&
      ::setsockopt(socket.get(), SOL_SOCKET, SO_BINDTODEVICE, options.device.data(),
                   static_cast<socklen_t>(options.device.size())) != 0) {
    return fail_errno("bind to the link " + options.device);
  }
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  const std::string where = fmt::format("{} port {}", options.address, options.port);
  if (::bind(socket.get(), address, size) != 0) return fail_errno("bind " + where);
  if (::listen(socket.get(), kBacklog) != 0) return fail_errno("listen " + where);
  ::getsockname(socket.get(), address, &size);
  const std::uint16_t port = ntohs(storage.ss_family == AF_INET ? v4.sin_port : v6.sin6_port);
  std::string described = fmt::format("{} port {}", options.address, port);
  return std::make_unique<SocketListener>(loop, std::move(socket), port, std::move(described),
                                          std::move(options.tls), options.keep_alive);
}

}  // namespace muster::net
