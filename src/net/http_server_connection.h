#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "net/http1/protocol.h"
#include "net/http_server.h"
#include "net/http_server_connections.h"
#include "rt/scope.h"

namespace muster::net {

// One connection of a server. A task reads all the time, so that the end of the peer is seen while
// a handler works; what it read ahead waits in a bounded inbox. Ends when run() returns.
class ServerConnection {
 public:
  // What all connections of a server share; outlives them.
  struct Shared {
    rt::Loop& loop;
    HttpHandler& handler;
    const HttpServerOptions& options;
    Connections& connections;
    // What is read goes through here, so that a quiet connection has no buffer of its own: between
    // the end of a read and the copy that follows no other connection runs.
    std::span<char> scratch;
  };
  ServerConnection(const Shared& shared, std::unique_ptr<Stream> stream);

  Task<void> run();

 private:
  class Answer;
  class Upgraded;

  Task<void> read_loop();
  Task<void> serve();
  Task<void> refuse(Error error);
  // Nothing when the peer is done.
  Task<Result<std::optional<HttpRequest>>> next_request();
  Task<Result<void>> make_way_for_body();
  Task<Result<void>> wait_for_bytes();
  // One after the other, all within the time for a peer that does not read.
  Task<Result<void>> write(std::vector<std::string_view> pieces);
  Task<Result<void>> write_all(std::vector<std::string_view> pieces);
  // Handles one request; whether another may follow.
  Task<bool> answer(HttpRequest request, bool keep_alive, bool is_old);

  rt::Loop& loop_;
  std::unique_ptr<Stream> stream_;
  HttpHandler& handler_;
  const HttpServerOptions& options_;
  std::span<char> scratch_;
  Connections::Member place_;
  RequestParser parser_;
  Peer peer_;
  std::string inbox_;
  bool ended_ = false;       // the peer sends nothing more
  bool discarding_ = false;  // nobody wants what it sends
  bool upgraded_ = false;    // it is no longer HTTP
  bool known_ = false;       // peer_ is all that TLS knows
  rt::Event arrived_;        // inbox_ or ended_ changed
  rt::Event taken_;          // the inbox has room
  std::optional<std::stop_source> handling_;
  std::optional<Monotonic> deadline_;  // of the request that is being read
  rt::TaskScope scope_;
};

}  // namespace muster::net
