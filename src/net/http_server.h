#pragma once

#include <memory>
#include <optional>

#include "base/log.h"
#include "base/traffic_limits.h"
#include "net/http.h"
#include "net/stream.h"
#include "rt/loop.h"
#include "rt/task.h"

namespace muster::net {

// How a handler answers one request: either respond(), or begin(), write_chunk() … finish(), or
// upgrade(). Errors mean that the peer is gone; the handler then has nothing left to do. A handler
// that answers nothing makes the server say 500.
class Responder {
 public:
  Responder() = default;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  virtual ~Responder() = default;

  virtual Task<Result<void>> respond(HttpResponse response) = 0;

  virtual Task<Result<void>> begin(int status, Headers headers) = 0;
  // Leaves at once; waits while the peer does not read. An empty chunk writes nothing.
  virtual Task<Result<void>> write_chunk(std::string_view bytes) = 0;
  virtual Task<Result<void>> finish() = 0;

  // Answers 101 with these headers; what follows on the connection is the handler's. The stream
  // must be gone when the handler returns, and the connection ends then. From now on the handler
  // learns of the peer's end by reading, and nobody limits how long a write takes.
  virtual Task<Result<std::unique_ptr<Stream>>> upgrade(Headers headers) = 0;

  [[nodiscard]] virtual const Peer& peer() const = 0;
};

// What the server calls for each request. When the peer goes away, or the server closes, the task
// is cancelled: its waits end with Cancelled.
class HttpHandler {
 public:
  HttpHandler() = default;
  HttpHandler(const HttpHandler&) = delete;
  HttpHandler& operator=(const HttpHandler&) = delete;
  virtual ~HttpHandler() = default;
  virtual Task<void> handle(const HttpRequest& request, Responder& responder) = 0;
};

struct HttpServerOptions {
  // For more, idle ones are closed; while none is idle they wait in the kernel's queue.
  std::size_t max_connections = limits::kMaxConnections;
  std::size_t max_body_bytes = limits::kMaxDocumentBytes;
  std::size_t max_header_bytes = limits::kMaxHeaderBytes;
  std::size_t max_uri_bytes = limits::kMaxUriBytes;
  // Requests that are larger than small share the room for their bodies.
  std::size_t small_request_bytes = limits::kSmallRequestBytes;
  std::size_t max_request_bytes_at_once = limits::kMaxRequestBytesAtOnce;
  std::size_t max_unread_answer_bytes = limits::kMaxUnreadAnswerBytes;
  Duration idle_timeout = std::chrono::seconds(60);   // between requests
  Duration read_timeout = std::chrono::seconds(30);   // from a request's first byte to its last
  Duration write_timeout = std::chrono::seconds(60);  // for a peer that does not read
  Logger log;
};

// HTTP/1.1 on a listener: keep-alive, pipelining one at a time, chunked both ways, 100-continue.
// Lives on the listener's loop; `handler` outlives it. Runs from start() until close(), which
// cancels the handlers, waits for them and closes every connection.
class HttpServer {
 public:
  HttpServer(rt::Loop& loop, std::unique_ptr<Listener> listener, HttpHandler& handler,
             HttpServerOptions options = {});
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  void start();
  Task<void> close();
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] std::size_t connections() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::net
