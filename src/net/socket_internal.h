#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <memory>
#include <string>

#include "base/fd.h"
#include "net/stream.h"

// What the .cc files of streams share.
namespace muster::net {

// recv and send that do not block and raise no SIGPIPE: bytes, 0 at the end, -1 with errno.
long receive_some(int fd, char* into, std::size_t size);
long send_some(int fd, const char* bytes, std::size_t size);

// True when a plain socket has nothing to read and was not closed by its peer.
bool socket_is_quiet(int fd);

// Fills the address of a UNIX socket and gives its size; "@name" is not a file but an abstract
// name.
Result<socklen_t> unix_address(const std::string& path, sockaddr_un& address);

// Who connected: Peer::client.
std::string client_of(int fd);

void set_no_delay(int fd);
void set_keep_alive(int fd);

// What a wait on a descriptor that was closed meanwhile means to the user of a stream.
Error as_stream_error(const Error& error);

// The client's handshake is done when this returns; the server's happens in its first read.
Task<Result<std::unique_ptr<Stream>>> tls_connect(rt::RealLoop& loop, Fd socket, TlsContext context,
                                                  std::string host);
Result<std::unique_ptr<Stream>> tls_accept(rt::RealLoop& loop, Fd socket,
                                           const TlsContext& context);

}  // namespace muster::net
