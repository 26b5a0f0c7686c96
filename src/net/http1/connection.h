#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/http1/protocol.h"
#include "net/stream.h"
#include "rt/task.h"

namespace muster::net {

// One HTTP/1.1 connection of a client; one request at a time. Used by one task; the client keeps it
// between requests. An error leaves it unfit for another request.
class Http1Connection {
 public:
  explicit Http1Connection(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {}

  // Writes the request and reads the head of the answer.
  Task<Result<void>> start(const HttpRequest& request, std::string host, Http1Limits limits);
  // The next piece of the body, nothing at its end.
  Task<Result<std::optional<std::string>>> next();
  // The rest of the body, with the head.
  Task<Result<HttpResponse>> rest();

  [[nodiscard]] const ResponseParser& parser() const { return *parser_; }
  // Whether any byte of an answer came since start().
  [[nodiscard]] bool answered() const { return answered_; }
  // Whether another request may follow.
  [[nodiscard]] bool reusable();
  void close() { stream_->close(); }

 private:
  Task<Result<void>> read_more();

  std::unique_ptr<Stream> stream_;
  std::optional<ResponseParser> parser_;
  std::vector<char> buffer_;
  bool answered_ = false;
  bool surplus_ = false;  // the peer sent more than one answer
};

}  // namespace muster::net
