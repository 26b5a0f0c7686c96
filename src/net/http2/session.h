#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "net/http.h"

namespace muster::net {

// One request on an HTTP/2 connection and what has come back so far. The session fills it in and
// calls changed(); whoever waits looks at the members then.
class Http2Stream {
 public:
  enum class Mode {
    Whole,   // the body is collected, up to max_body; changed() once, at the end
    Pieces,  // the body is taken piece by piece; what is not taken holds the sender back
  };

  Http2Stream(HttpRequest to_send, Mode how, std::size_t max_body_bytes)
      : request(std::move(to_send)), mode(how), max_body(max_body_bytes) {}
  Http2Stream(const Http2Stream&) = delete;
  Http2Stream& operator=(const Http2Stream&) = delete;
  virtual ~Http2Stream() = default;
  virtual void changed() = 0;

  HttpRequest request;
  const Mode mode;
  const std::size_t max_body;

  std::int32_t id = 0;    // 0 until it was submitted
  HttpResponse response;  // body: what was not taken yet
  bool head_done = false;
  bool ended = false;  // nothing more comes; `error` says whether that is the whole answer
  std::optional<Error> error;
  bool unprocessed = false;  // the server did not look at it: it may be sent again elsewhere

  // Used by the session.
  bool head_sent = false;
  std::size_t body_sent = 0;
  std::size_t header_bytes = 0;
  int header_blocks = 0;
};

// The client's side of one HTTP/2 connection without a socket: bytes in through receive(), bytes
// out through output(). Bounded: header size, interim answers, body size (Mode::Whole) or the
// stream's window (Mode::Pieces), no server push; nghttp2 bounds the rest (settings, pings,
// continuation frames).
class Http2Session {
 public:
  struct Options {
    std::string scheme = "https";
    std::string authority;
    std::size_t max_header_bytes = 0;
    std::size_t stream_window = 0;
    std::size_t connection_window = 0;
  };

  explicit Http2Session(Options options);
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;
  ~Http2Session();

  // The stream must stay until it ended or was forgotten. More than the peer allows at once wait
  // inside.
  Result<void> submit(Http2Stream& stream);
  // Gives the stream up; nothing touches it afterwards.
  void forget(Http2Stream& stream);
  // The caller has taken all of stream.response.body (Mode::Pieces): the peer may send as much
  // again.
  std::string take_body(Http2Stream& stream);

  Result<void> receive(std::string_view bytes);
  // Appends what is to be sent, up to about `limit` bytes; appends nothing when there is nothing.
  Result<void> output(std::string& out, std::size_t limit);
  void ping();
  // Every stream ends with this error.
  void fail_all(const Error& error);

  [[nodiscard]] std::size_t streams() const;
  [[nodiscard]] std::size_t max_streams() const;
  // False after GOAWAY, from either side, or when the stream numbers are used up.
  [[nodiscard]] bool accepts_requests() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::net
