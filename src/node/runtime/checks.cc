#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "base/strings.h"
#include "node/linux/netlink.h"
#include "node/runtime/linux_runtime.h"

// What probes ask of a port.
namespace muster::node {

namespace {

// Nothing: nobody accepts connections there.
Task<Result<std::unique_ptr<rt::Descriptor>>> connect_to(rt::RealLoop& loop, std::string address,
                                                         std::uint16_t port) {
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(port);
  peer.sin_addr.s_addr = htonl(CO_TRY(linux::parse_address(address)));
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) co_return fail_errno("socket");
  auto descriptor = std::make_unique<rt::Descriptor>(loop, fd.release());
  if (::connect(descriptor->fd(), reinterpret_cast<sockaddr*>(&peer), sizeof peer) == 0)
    co_return descriptor;
  if (errno != EINPROGRESS) co_return nullptr;
  CO_TRY(co_await descriptor->writable());
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(descriptor->fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) descriptor.reset();
  co_return descriptor;
}

Task<Result<bool>> try_connect(rt::RealLoop& loop, std::string address, std::uint16_t port) {
  const auto connected = CO_TRY(co_await connect_to(loop, std::move(address), port));
  co_return connected != nullptr;
}

bool fits_a_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

Result<std::string> request_text(const HttpCheck& check) {
  const bool named = std::ranges::any_of(
      check.headers, [](const auto& header) { return equal_ignoring_case(header.first, "Host"); });
  std::string out = fmt::format("GET {} HTTP/1.1\r\n", check.path.empty() ? "/" : check.path);
  bool whole = fits_a_line(check.path) && !check.path.contains(' ');
  if (!named) out += fmt::format("Host: {}:{}\r\n", check.address, check.port);
  for (const auto& [name, value] : check.headers) {
    whole = whole && fits_a_line(name) && fits_a_line(value) && !name.contains(':');
    out += fmt::format("{}: {}\r\n", name, value);
  }
  if (!whole) return fail(ErrorCode::Invalid, "the path or a header of httpGet has a bad letter");
  return out + "User-Agent: kube-probe/1.36\r\nAccept: */*\r\nConnection: close\r\n\r\n";
}

Task<Result<void>> send(rt::Descriptor& peer, std::string text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto count = ::send(peer.fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      CO_TRY(co_await peer.writable());
    } else if (errno != EINTR) {
      co_return fail_errno("send");
    }
  }
  co_return Result<void>{};
}

// "HTTP/1.1 200 OK": nothing behind that line is read.
Task<Result<int>> read_status(rt::Descriptor& peer) {
  constexpr std::size_t kLongestLine = 4096;
  std::string line;
  while (!line.contains('\n') && line.size() < kLongestLine) {
    std::array<char, 512> buffer{};
    const auto count = ::read(peer.fd(), buffer.data(), buffer.size());
    if (count > 0) {
      line.append(buffer.data(), static_cast<std::size_t>(count));
    } else if (count < 0 && errno == EAGAIN) {
      CO_TRY(co_await peer.readable());
    } else if (count == 0 || errno != EINTR) {
      break;
    }
  }
  const auto words = split(std::string_view(line).substr(0, line.find('\n')), ' ');
  const auto status = words.size() > 1 ? parse_int(trim(words[1])) : std::nullopt;
  if (!status || !words[0].starts_with("HTTP/"))
    co_return fail(ErrorCode::Parse, "the answer is not HTTP");
  co_return static_cast<int>(*status);
}

Task<Result<int>> get_status(rt::RealLoop& loop, HttpCheck check) {
  auto text = CO_TRY(request_text(check));
  const auto peer = CO_TRY(co_await connect_to(loop, check.address, check.port));
  if (!peer) co_return fail(ErrorCode::Unavailable, "connection refused");
  CO_TRY(co_await send(*peer, std::move(text)));
  co_return co_await read_status(*peer);
}

}  // namespace

Task<Result<bool>> LinuxRuntime::tcp_check(std::string address, std::uint16_t port,
                                           Duration limit) {
  auto check = try_connect(loop_, std::move(address), port);
  auto result = co_await rt::with_timeout(loop_, limit, std::move(check));
  if (!result && result.error().code == ErrorCode::Timeout) co_return false;
  co_return result;
}

Task<Result<int>> LinuxRuntime::http_check(HttpCheck check, Duration limit) {
  co_return co_await rt::with_timeout(loop_, limit, get_status(loop_, std::move(check)));
}

}  // namespace muster::node
