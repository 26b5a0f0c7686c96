#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/http2/session.h"
#include "net/http_client.h"
#include "net/stream.h"
#include "rt/scope.h"

namespace muster::net {

// One HTTP/2 connection of a client: a session, its stream, and the three tasks that read, write
// and ask a silent peer whether it is alive. Held by shared pointer: by the client while run()
// lasts, and by every request on it. Requests submitted in one turn of the loop leave in one write.
class Http2Connection {
 public:
  struct Options {
    Http2Session::Options session;
    Duration ping_interval{};
    Duration ping_deadline{};
    std::string name;  // of the endpoint, for messages
  };

  Http2Connection(rt::Loop& loop, std::unique_ptr<Stream> stream, Options options);
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;
  ~Http2Connection();

  // Until the connection broke, was drained after GOAWAY, or the task is cancelled. All streams
  // have ended then.
  Task<void> run();

  // Takes no further requests and ends with the last answer.
  void drain();
  [[nodiscard]] bool usable() const {
    return !broken_ && !draining_ && session_.accepts_requests();
  }
  [[nodiscard]] bool has_room() const { return session_.streams() < session_.max_streams(); }
  [[nodiscard]] std::size_t load() const { return session_.streams(); }

  // `unprocessed` tells that the server did not look at the request, which is then given back.
  // `self` is this connection; it lives as long as the request.
  static Task<Result<HttpResponse>> send(std::shared_ptr<Http2Connection> self,
                                         HttpRequest& request, std::size_t max_body,
                                         bool& unprocessed);
  static Task<Result<std::unique_ptr<ResponseStream>>> open(std::shared_ptr<Http2Connection> self,
                                                            HttpRequest& request,
                                                            bool& unprocessed);

 private:
  class Exchange;
  class Answer;

  Result<void> submit(Exchange& exchange);
  void flush() { dirty_.set(); }
  void end(Error reason);
  void end_if_drained();
  Task<void> read_loop();
  Task<void> write_loop();
  Task<void> watch_silence();

  rt::Loop& loop_;
  std::unique_ptr<Stream> stream_;
  Options options_;
  Http2Session session_;
  rt::TaskScope scope_;
  rt::Event dirty_;  // there may be something to write
  rt::Event over_;
  std::optional<Error> broken_;
  bool draining_ = false;
  Monotonic last_received_;
};

}  // namespace muster::net
