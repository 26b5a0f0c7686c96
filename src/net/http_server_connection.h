#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "net/http1/protocol.h"
#include "net/http_server.h"
#include "rt/scope.h"

namespace muster::net {

// One connection of a server. A task reads all the time, so that the end of the peer is seen while
// a handler works; what it read ahead waits in a bounded inbox. Ends when run() returns.
class ServerConnection {
 public:
  // All of these outlive the connection.
  ServerConnection(rt::Loop& loop, std::unique_ptr<Stream> stream, HttpHandler& handler,
                   const HttpServerOptions& options);

  Task<void> run();

 private:
  class Answer;
  class Upgraded;

  Task<void> read_loop();
  Task<void> serve();
  Task<void> refuse(Error error);
  // Nothing when the peer is done.
  Task<Result<std::optional<HttpRequest>>> next_request();
  Task<Result<void>> wait_for_bytes();
  Task<Result<void>> write(std::string_view bytes);
  // Handles one request; whether another may follow.
  Task<bool> answer(HttpRequest request, bool keep_alive, bool is_old);

  rt::Loop& loop_;
  std::unique_ptr<Stream> stream_;
  HttpHandler& handler_;
  const HttpServerOptions& options_;
  RequestParser parser_;
  Peer peer_;
  std::string inbox_;
  bool ended_ = false;       // the peer sends nothing more
  bool discarding_ = false;  // nobody wants what it sends
  bool upgraded_ = false;    // it is no longer HTTP
  rt::Event arrived_;        // inbox_ or ended_ changed
  rt::Event taken_;          // the inbox has room
  std::optional<std::stop_source> handling_;
  std::optional<Monotonic> deadline_;  // of the request that is being read
  rt::TaskScope scope_;
};

}  // namespace muster::net
