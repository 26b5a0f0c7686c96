#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "net/socket_internal.h"
#include "net/tunnel.h"

namespace muster::net {

namespace {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

// Blocks unless the host is a numeric address.
Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    return fail(ErrorCode::Unavailable,
                fmt::format("looking up \"{}\": {}", host, ::gai_strerror(error)));
  }
  std::vector<Address> addresses;
  for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
    Address address{.size = entry->ai_addrlen};
    std::memcpy(&address.storage, entry->ai_addr, entry->ai_addrlen);
    addresses.push_back(address);
  }
  ::freeaddrinfo(found);
  return addresses;
}

Task<Result<Fd>> connect_socket(rt::RealLoop& loop, Address address) {
  Fd socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.valid()) co_return fail_errno("socket");
  const auto* where = reinterpret_cast<const sockaddr*>(&address.storage);
  if (::connect(socket.get(), where, address.size) != 0) {
    // A UNIX listener whose queue is full.
    if (errno == EAGAIN) co_return fail(ErrorCode::TooManyRequests, std::strerror(errno));
    if (errno != EINPROGRESS) co_return fail(ErrorCode::Unavailable, std::strerror(errno));
    // The descriptor owns a duplicate only while it waits, so that TLS can take the socket over.
    rt::Descriptor waiting(loop, ::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
    CO_TRY(co_await waiting.writable());
    int error = 0;
    socklen_t size = sizeof(error);
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) co_return fail(ErrorCode::Unavailable, std::strerror(error));
  }
  co_return socket;
}

class TcpConnector final : public Connector {
 public:
  TcpConnector(rt::RealLoop& loop, rt::Pool& pool, TcpOptions options,
               std::optional<HttpProxy> proxy)
      : loop_(loop), pool_(pool), options_(std::move(options)), proxy_(std::move(proxy)) {}

  Task<Result<std::unique_ptr<Stream>>> connect() override {
    auto stream = co_await rt::with_timeout(loop_, options_.timeout, attempt());
    if (!stream) co_return fail(named(stream.error()));
    co_return std::move(*stream);
  }

  std::string authority() const override {
    const bool v6 = options_.host.find(':') != std::string::npos;
    return fmt::format("{}{}{}:{}", v6 ? "[" : "", options_.host, v6 ? "]" : "", options_.port);
  }
  std::string scheme() const override { return options_.tls ? "https" : "http"; }
  std::string describe() const override { return scheme() + "://" + authority(); }

 private:
  // An endpoint that cannot be reached is Unavailable, whatever kept us from it.
  Error named(const Error& error) const {
    Error out = error.in(describe());
    if (error.code == ErrorCode::Timeout) out.code = ErrorCode::Unavailable;
    return out;
  }

  Task<Result<std::unique_ptr<Stream>>> attempt() {
    auto connected = co_await connect_any();
    if (!connected && proxy_) co_return fail(connected.error().in(proxy_->describe()));
    Fd socket = CO_TRY(std::move(connected));
    set_no_delay(socket.get());
    if (options_.keep_alive) set_keep_alive(socket.get());
    if (proxy_) CO_TRY(co_await open_tunnel(loop_, socket.get(), *proxy_, authority()));
    if (!options_.tls) co_return socket_stream(loop_, socket.release());
    co_return co_await tls_connect(loop_, std::move(socket), *options_.tls, options_.host);
  }

  Task<Result<std::vector<Address>>> addresses() {
    const std::string& next = proxy_ ? proxy_->host : options_.host;
    const std::uint16_t next_port = proxy_ ? proxy_->port : options_.port;
    auto numeric = resolve(next, next_port, AI_NUMERICHOST);
    if (numeric) co_return std::move(*numeric);
    co_return CO_TRY(co_await pool_.run(
        loop_, [host = next, port = next_port] { return resolve(host, port, AI_ADDRCONFIG); }));
  }

  Task<Result<Fd>> connect_any() {
    const auto candidates = CO_TRY(co_await addresses());
    // An address that swallows packets must leave time for the next one.
    const Duration each = options_.timeout / std::max<std::size_t>(candidates.size(), 1);
    Error last{.code = ErrorCode::Unavailable, .message = "the name has no address"};
    for (const auto& address : candidates) {
      auto socket = co_await rt::with_timeout(loop_, each, connect_socket(loop_, address));
      if (socket) co_return std::move(*socket);
      if (socket.error().code == ErrorCode::Cancelled) co_return fail(socket.error());
      last = socket.error();
    }
    co_return fail(last);
  }

  rt::RealLoop& loop_;
  rt::Pool& pool_;
  TcpOptions options_;
  std::optional<HttpProxy> proxy_;
};

class UnixConnector final : public Connector {
 public:
  UnixConnector(rt::RealLoop& loop, std::string path) : loop_(loop), path_(std::move(path)) {}

  Task<Result<std::unique_ptr<Stream>>> connect() override {
    Address address;
    address.size = CO_TRY(unix_address(path_, reinterpret_cast<sockaddr_un&>(address.storage)));
    while (true) {
      auto socket = co_await connect_socket(loop_, address);
      if (socket) co_return socket_stream(loop_, socket->release());
      if (socket.error().code != ErrorCode::TooManyRequests) {
        co_return fail(socket.error().in(describe()));
      }
      // The kernel offers nothing to wait on.
      CO_TRY(co_await rt::sleep_for(loop_, std::chrono::milliseconds(2)));
    }
  }
  std::string authority() const override { return "localhost"; }
  std::string scheme() const override { return "http"; }
  std::string describe() const override { return "unix:" + path_; }

 private:
  rt::RealLoop& loop_;
  std::string path_;
};

}  // namespace

std::unique_ptr<Connector> tcp_connector(rt::RealLoop& loop, rt::Pool& pool, TcpOptions options) {
  return tcp_connector(loop, pool, std::move(options), std::nullopt);
}

std::unique_ptr<Connector> tcp_connector(rt::RealLoop& loop, rt::Pool& pool, TcpOptions options,
                                         std::optional<HttpProxy> proxy) {
  return std::make_unique<TcpConnector>(loop, pool, std::move(options), std::move(proxy));
}

std::unique_ptr<Connector> unix_connector(rt::RealLoop& loop, std::string path) {
  return std::make_unique<UnixConnector>(loop, std::move(path));
}

}  // namespace muster::net
