#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/tls/tls.h"
#include "rt/pool.h"
#include "rt/real_loop.h"
#include "rt/task.h"

// Connected byte streams: TCP, UNIX sockets, TLS. Everything above them takes bytes and gives
// bytes.
namespace muster::net {

// Who is at the other end.
struct Peer {
  // As the kernel knows: "uid 1000 pid 4711" of a UNIX socket, an address of TCP.
  std::string client;
  // As far as TLS proved it; empty without a verified certificate.
  std::string common_name;
  std::vector<std::string> organizations;
};

// A connection in both directions. One reader and one writer may wait at the same time. A read that
// was cancelled took nothing; after a cancelled or failed write only close() makes sense. The
// object outlives the calls on it; destroying it closes the connection.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  // At least one byte, or 0 at the end of what the peer sends.
  virtual Task<Result<std::size_t>> read(std::span<char> into) = 0;
  // All of it; `bytes` must stay until the call ends.
  virtual Task<Result<void>> write(std::string_view bytes) = 0;
  // Says that nothing more will be written; reading goes on.
  virtual Task<Result<void>> shutdown() = 0;
  // Ends it at once: a waiting reader and writer get an error.
  virtual void close() = 0;
  // True while the peer has neither sent anything unread nor closed: an idle connection that is fit
  // for another request.
  [[nodiscard]] virtual bool quiet() = 0;

  // What ALPN chose: "h2", "http/1.1", or empty. Of a server: known after the first read.
  [[nodiscard]] virtual std::string protocol() const { return {}; }
  [[nodiscard]] virtual Peer peer() const { return {}; }
  // What Peer::client is; known from the start.
  [[nodiscard]] virtual std::string client() const { return {}; }
};

// Makes connections to one place; what a client holds instead of an address.
class Connector {
 public:
  Connector() = default;
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;
  virtual ~Connector() = default;

  virtual Task<Result<std::unique_ptr<Stream>>> connect() = 0;
  // The Host header: "10.0.0.1:6443", "localhost" for a UNIX socket.
  [[nodiscard]] virtual std::string authority() const = 0;
  [[nodiscard]] virtual std::string scheme() const = 0;
  // For messages: "https://10.0.0.1:6443", "unix:/run/muster.sock".
  [[nodiscard]] virtual std::string describe() const = 0;
};

struct TcpOptions {
  std::string host;  // a name, an IPv4 or an IPv6 address without brackets
  std::uint16_t port = 0;
  std::optional<TlsContext> tls;  // without: plain text, for tests and health endpoints
  Duration timeout = std::chrono::seconds(10);  // name lookup, connect and handshake together
  bool keep_alive = false;  // a peer that vanished silently breaks the connection within a minute
};

// `loop` and `pool` outlive the connector. Addresses are tried in the order the resolver gives
// them.
std::unique_ptr<Connector> tcp_connector(rt::RealLoop& loop, rt::Pool& pool, TcpOptions options);
std::unique_ptr<Connector> unix_connector(rt::RealLoop& loop, std::string path);

// Takes over a connected, non-blocking socket.
std::unique_ptr<Stream> socket_stream(rt::RealLoop& loop, int fd);

// Where connections arrive. One accept() at a time; it gives Io after close().
class Listener {
 public:
  Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  virtual ~Listener() = default;

  // With TLS the handshake happens inside the first read, so that a slow client delays nobody else.
  virtual Task<Result<std::unique_ptr<Stream>>> accept() = 0;
  virtual void close() = 0;
  // Until somebody has connected, for servers that are not ready before they are needed. Before the
  // first accept(); who connects waits.
  virtual Task<Result<void>> knocked() = 0;
  // Before the first accept().
  virtual void use_tls(TlsContext context) = 0;
  // The port that was bound; 0 for a UNIX socket.
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  [[nodiscard]] virtual std::string describe() const = 0;
};

// A UNIX socket that only its owner may use (mode 0600). A stale socket file at the path is
// replaced; close() and the destructor remove the file. "@name" is an abstract name: no file, and
// whoever is in the same network namespace may use it.
Result<std::unique_ptr<Listener>> listen_unix(rt::RealLoop& loop, std::string path);

struct TcpListenOptions {
  std::string address = "127.0.0.1";  // an IPv4 or IPv6 address
  std::uint16_t port = 0;             // 0: any free one
  std::string device;                 // only what comes in over this link; empty: over any
  std::optional<TlsContext> tls;
  bool keep_alive = false;  // as in TcpOptions
};
Result<std::unique_ptr<Listener>> listen_tcp(rt::RealLoop& loop, TcpListenOptions options);

}  // namespace muster::net
