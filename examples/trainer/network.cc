#include "trainer/network.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <memory>

#include <fmt/core.h>

namespace muster::trainer {
namespace {

// A ring of n needs one pending connection, the rendezvous at most all workers at once.
constexpr int kBacklog = 1'024;

// The socket interface takes every family's address as a sockaddr.
sockaddr* generic(sockaddr_in& address) {
  return reinterpret_cast<sockaddr*>(&address);
}

// Without this the kernel would hold back small frames for up to 40 ms, waiting for more to send
// with them.
void send_at_once(const Descriptor& socket) {
  const int on = 1;
  ::setsockopt(socket.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Result<sockaddr_in> resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints = {};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found); error != 0) {
    return failure(fmt::format("cannot resolve {}: {}", host, ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  sockaddr_in address = {};
  std::memcpy(&address, found->ai_addr, sizeof address);
  address.sin_port = htons(port);
  return address;
}

// Waits for a connection that is being made, and returns the error it ended with.
Result<int> finish_connecting(const Descriptor& socket, Clock::time_point deadline) {
  std::array<pollfd, 1> waiting = {pollfd{.fd = socket.number(), .events = POLLOUT, .revents = 0}};
  if (!TRY(wait_for(waiting, deadline))) {
    return ETIMEDOUT;
  }
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(socket.number(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
    return errno;
  }
  return error;
}

Transfer outcome(ssize_t moved) {
  if (moved >= 0) {
    return {.bytes = static_cast<std::size_t>(moved), .closed = std::nullopt};
  }
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
    return {};
  }
  return {.bytes = 0, .closed = std::strerror(errno)};
}

}  // namespace

std::string to_string(const Endpoint& endpoint) {
  return fmt::format("{}:{}", endpoint.address, endpoint.port);
}

std::optional<Endpoint> parse_endpoint(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  Endpoint endpoint{.address = std::string(text.substr(0, colon)), .port = 0};
  in_addr ignored = {};
  const auto [stop, error] =
      std::from_chars(text.data() + colon + 1, text.data() + text.size(), endpoint.port);
  if (::inet_pton(AF_INET, endpoint.address.c_str(), &ignored) != 1 || error != std::errc{} ||
      stop != text.data() + text.size() || endpoint.port == 0) {
    return std::nullopt;
  }
  return endpoint;
}

Result<Descriptor> listen_on(std::uint16_t port) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) {
    return system_failure("cannot make a socket", errno);
  }
  // A restarted scheduler takes its port again while connections of its predecessor are still
  // winding down.
  const int on = 1;
  ::setsockopt(socket.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(port);
  if (::bind(socket.number(), generic(address), sizeof address) != 0 ||
      ::listen(socket.number(), kBacklog) != 0) {
    return system_failure(fmt::format("cannot listen on 0.0.0.0:{}", port), errno);
  }
  return socket;
}

Result<std::optional<Descriptor>> accept_from(const Descriptor& listener) {
  Descriptor socket(::accept4(listener.number(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.is_open()) {
    send_at_once(socket);
    return std::optional(std::move(socket));
  }
  // The connection may be gone again before it is accepted; Linux also reports its pending network
  // errors here.
  constexpr std::array kPassing = {EAGAIN,   EWOULDBLOCK, EINTR,        ECONNABORTED, EPROTO,
                                   ENETDOWN, EHOSTDOWN,   EHOSTUNREACH, ENETUNREACH};
  if (std::ranges::find(kPassing, errno) != kPassing.end()) {
    return std::optional<Descriptor>();
  }
  return system_failure("cannot accept a connection", errno);
}

Result<Descriptor> connect_to(const std::string& host, std::uint16_t port,
                              Clock::time_point deadline) {
  sockaddr_in address = TRY(resolve(host, port));
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) {
    return system_failure("cannot make a socket", errno);
  }
  int error = ::connect(socket.number(), generic(address), sizeof address) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    error = TRY(finish_connecting(socket, deadline));
  }
  if (error != 0) {
    return system_failure(fmt::format("cannot connect to {}:{}", host, port), error);
  }
  send_at_once(socket);
  return socket;
}

Result<Endpoint> local_endpoint(const Descriptor& socket) {
  sockaddr_in address = {};
  socklen_t size = sizeof address;
  std::array<char, INET_ADDRSTRLEN> text = {};
  if (::getsockname(socket.number(), generic(address), &size) != 0 ||
      ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size()) == nullptr) {
    return system_failure("cannot read a socket's own address", errno);
  }
  return Endpoint{.address = text.data(), .port = ntohs(address.sin_port)};
}

Transfer receive_some(const Descriptor& socket, std::span<char> buffer) {
  const ssize_t got = ::recv(socket.number(), buffer.data(), buffer.size(), 0);
  if (got == 0) {
    return {.bytes = 0, .closed = "connection closed"};
  }
  return outcome(got);
}

Transfer send_some(const Descriptor& socket, std::string_view bytes) {
  return outcome(::send(socket.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

Result<bool> wait_for(std::span<pollfd> descriptors, Clock::time_point deadline) {
  while (true) {
    // Rounded up: a remainder below a millisecond would make this spin.
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int timeout = static_cast<int>(std::clamp<decltype(left)>(left, 0, INT_MAX));
    const int ready = ::poll(descriptors.data(), descriptors.size(), timeout);
    if (ready > 0) {
      return true;
    }
    if (ready < 0 && errno != EINTR) {
      return system_failure("cannot wait for sockets", errno);
    }
    if (Clock::now() >= deadline) {
      return false;
    }
  }
}

}  // namespace muster::trainer
