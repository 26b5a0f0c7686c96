#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "node/linux/netlink.h"
#include "node/runtime/linux_runtime.h"

namespace muster::node {

namespace {

Task<Result<bool>> try_connect(rt::RealLoop& loop, std::string address, std::uint16_t port) {
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(port);
  peer.sin_addr.s_addr = htonl(CO_TRY(linux::parse_address(address)));
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) co_return fail_errno("socket");
  rt::Descriptor descriptor(loop, fd.release());
  if (::connect(descriptor.fd(), reinterpret_cast<sockaddr*>(&peer), sizeof peer) == 0)
    co_return true;
  if (errno != EINPROGRESS) co_return false;
  CO_TRY(co_await descriptor.writable());
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(descriptor.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
  co_return error == 0;
}

}  // namespace

Task<Result<bool>> LinuxRuntime::tcp_check(std::string address, std::uint16_t port,
                                           Duration limit) {
  auto check = try_connect(loop_, std::move(address), port);
  auto result = co_await rt::with_timeout(loop_, limit, std::move(check));
  if (!result && result.error().code == ErrorCode::Timeout) co_return false;
  co_return result;
}

}  // namespace muster::node
