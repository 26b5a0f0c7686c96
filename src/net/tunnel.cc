#include "net/tunnel.h"

#include <fcntl.h>

#include <cerrno>
#include <vector>

#include <fmt/format.h>

#include "base/strings.h"
#include "net/http1/protocol.h"
#include "net/socket_internal.h"

namespace muster::net {
namespace {

constexpr std::size_t kReadBytes = std::size_t{4} << 10U;
constexpr std::size_t kMostHead = std::size_t{16} << 10U;

Task<Result<void>> send_all(rt::Descriptor& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const long count = send_some(socket.fd(), bytes.data(), bytes.size());
    if (count < 0 && errno != EAGAIN) co_return fail_errno("asking it");
    if (count < 0) {
      CO_TRY(co_await socket.writable());
    } else {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  co_return Result<void>{};
}

Task<Result<void>> read_head(rt::Descriptor& socket, ResponseParser& answer) {
  std::vector<char> buffer(kReadBytes);
  while (!answer.head_done()) {
    const long count = receive_some(socket.fd(), buffer.data(), buffer.size());
    if (count < 0 && errno != EAGAIN) co_return fail_errno("waiting for its answer");
    if (count == 0)
      co_return fail(ErrorCode::Unavailable, "it closed the connection without an answer");
    if (count < 0) {
      CO_TRY(co_await socket.readable());
      continue;
    }
    const auto taken = answer.feed({buffer.data(), static_cast<std::size_t>(count)});
    if (!taken) co_return fail(taken.error().in("what it answers is not HTTP"));
    // Whoever is behind it waits for us to speak first.
    const bool more = *taken < static_cast<std::size_t>(count);
    if (more && answer.status() / 100 == 2)
      co_return fail(ErrorCode::Parse, "it sent more than an answer");
  }
  co_return Result<void>{};
}

Task<Result<void>> ask(rt::RealLoop& loop, int socket, const HttpProxy& proxy,
                       const std::string& authority) {
  // A duplicate, so that TLS can take the socket over.
  rt::Descriptor waiting(loop, ::fcntl(socket, F_DUPFD_CLOEXEC, 0));
  const std::string request = tunnel_request(proxy, authority);
  CO_TRY(co_await send_all(waiting, request));
  ResponseParser answer({.header_bytes = kMostHead}, ResponseParser::Body::NoneExpected);
  CO_TRY(co_await read_head(waiting, answer));
  if (answer.status() / 100 == 2) co_return Result<void>{};
  if (answer.status() == 407) {
    co_return fail(ErrorCode::Unauthorized,
                   proxy.authorization.empty()
                       ? "it wants a user and a password (407): http://USER:PASSWORD@HOST:PORT"
                       : "it refuses the user or the password (407)");
  }
  co_return fail(ErrorCode::Unavailable,
                 fmt::format("it does not connect to {}: status {}", authority, answer.status()));
}

}  // namespace

std::string HttpProxy::describe() const {
  const bool v6 = host.contains(':');
  return fmt::format("proxy http://{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
}

std::string tunnel_request(const HttpProxy& proxy, const std::string& authority) {
  std::string out = fmt::format("CONNECT {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: muster\r\n",
                                authority, authority);
  if (!proxy.authorization.empty())
    out += fmt::format("Proxy-Authorization: {}\r\n", proxy.authorization.reveal());
  return out + "\r\n";
}

Task<Result<void>> open_tunnel(rt::RealLoop& loop, int socket, HttpProxy proxy,
                               std::string authority) {
  const auto asked = co_await ask(loop, socket, proxy, authority);
  if (!asked && asked.error().code == ErrorCode::Cancelled) co_return asked;
  if (!asked) co_return fail(asked.error().in(proxy.describe()));
  co_return Result<void>{};
}

}  // namespace muster::net
