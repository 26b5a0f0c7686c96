#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/limits.h"
#include "net/http.h"
#include "net/stream.h"
#include "rt/loop.h"
#include "rt/source.h"
#include "rt/task.h"

namespace muster::net {

// The answer to a streaming request: head first, then the body in pieces as they arrive. Destroying
// it gives the stream (HTTP/2) or the connection (HTTP/1.1) up at once. It may outlive the client;
// it then ends with Unavailable. Who does not call next() slows the sender down, nobody else.
// next() gives bytes, never none; nothing at the end of the body; Unavailable when it broke off.
class ResponseStream : public rt::Source<std::optional<std::string>> {
 public:
  [[nodiscard]] virtual int status() const = 0;
  [[nodiscard]] virtual const Headers& headers() const = 0;
};

struct HttpClientOptions {
  int http2_connections = 2;   // the second is opened when the first one has no stream left
  int http1_connections = 16;  // for requests; each streaming answer has one of its own
  std::size_t http1_idle = 8;  // kept open between requests
  Duration http1_idle_for = std::chrono::seconds(50);  // below the server's own limit
  Duration ping_interval = std::chrono::seconds(30);   // silence after which HTTP/2 peers are asked
  Duration ping_deadline = std::chrono::seconds(15);   // and how long they may take to answer
  std::size_t max_header_bytes = limits::kMaxHeaderBytes;
  std::size_t max_body_bytes = limits::kMaxResponseBytes;  // of send(); streams have no limit
  // What a peer may send ahead of next(); the most that one slow stream can make us hold.
  std::size_t stream_window = std::size_t{4} << 20U;
  std::size_t connection_window = std::size_t{16} << 20U;
};

// Requests to one endpoint over few connections: HTTP/2 where ALPN gives it, otherwise HTTP/1.1
// with keep-alive. Lives on the loop of its connector. Cancelling a task that waits resets its
// stream or closes its connection. Errors: Unavailable when the endpoint cannot be reached or the
// connection broke (a write may or may not have happened then), Cancelled, TooLarge, BadRequest for
// a request that cannot be written, Parse for an answer that is not HTTP. Every status is an
// answer, not an error. close() it before it is destroyed.
class HttpClient {
 public:
  HttpClient(rt::Loop& loop, std::unique_ptr<Connector> connector, HttpClientOptions options = {});
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();

  Task<Result<HttpResponse>> send(HttpRequest request);
  Task<Result<std::unique_ptr<ResponseStream>>> open(HttpRequest request);
  // What comes next goes over new connections; those there are end with the answers on them. For
  // when the connector makes them otherwise than before.
  void renew_connections();
  // Requests in flight get Unavailable.
  Task<void> close();

  // For messages: "https://10.0.0.1:6443".
  [[nodiscard]] std::string describe() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::net
