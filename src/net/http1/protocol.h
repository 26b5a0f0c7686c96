#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/limits.h"
#include "net/http.h"

// HTTP/1.1 without sockets: parsers that are fed with bytes in any pieces, and writers that append
// to a string. Strict where leniency lets two readers disagree about where a message ends: no bare
// LF, no folded headers, not both Content-Length and Transfer-Encoding, one plain length, plain
// chunk sizes.
namespace muster::net {

struct Http1Limits {
  std::size_t header_bytes = limits::kMaxHeaderBytes;  // start line and all fields
  std::size_t header_count = 256;
  std::size_t uri_bytes = limits::kMaxUriBytes;
  std::size_t body_bytes = limits::kMaxDocumentBytes;
};

// Takes the body's bytes off the wire once the head said how it is framed.
class BodyDecoder {
 public:
  // The body is empty / has this many bytes / is chunked / lasts until the connection ends.
  void start_empty();
  void start_length(std::uint64_t length);
  void start_chunked();
  void start_until_close();

  // Appends decoded bytes to `out`; gives how many of `bytes` it took, fewer only at the end.
  Result<std::size_t> feed(std::string_view bytes, std::string& out);
  [[nodiscard]] bool done() const { return state_ == State::Done; }
  [[nodiscard]] bool until_close() const { return state_ == State::UntilClose; }
  // How much is to come, where the head said so.
  [[nodiscard]] std::optional<std::uint64_t> left() const {
    return state_ == State::Length ? std::optional(left_) : std::nullopt;
  }

 private:
  enum class State { Done, Length, UntilClose, ChunkSize, ChunkData, ChunkEnd, Trailer };
  Result<bool> take_line(std::string_view& bytes);
  Result<void> start_chunk();

  State state_ = State::Done;
  std::uint64_t left_ = 0;
  std::string line_;
  std::size_t trailer_bytes_ = 0;
};

// What both directions share: lines of the head, header fields, body framing.
class MessageParser {
 public:
  explicit MessageParser(Http1Limits limits) : limits_(limits) {}
  MessageParser(const MessageParser&) = delete;
  MessageParser& operator=(const MessageParser&) = delete;

  // Takes a prefix of the bytes, all of it unless the message ended. After an error it is of no
  // use.
  Result<std::size_t> feed(std::string_view bytes);
  [[nodiscard]] bool head_done() const { return head_done_; }
  [[nodiscard]] bool done() const { return head_done_ && body_.done(); }
  [[nodiscard]] bool started() const { return header_bytes_ > 0 || head_done_; }
  // Whether another message may follow on the connection.
  [[nodiscard]] bool keep_alive() const { return keep_alive_; }
  // After head_done(): how large the body may become.
  [[nodiscard]] std::size_t body_bytes() const {
    if (body_.done()) return decoded_.size();
    const auto left = body_.left();
    return left ? decoded_.size() + static_cast<std::size_t>(*left) : limits_.body_bytes;
  }
  // The peer speaks HTTP/1.0, which has no chunks.
  [[nodiscard]] bool is_old() const { return minor_version_ == 0; }

 protected:
  virtual ~MessageParser() = default;
  virtual Result<void> on_start_line(std::string_view line) = 0;
  virtual Result<void> on_head_done() = 0;
  void reset();
  // Transfer-Encoding and Content-Length, checked; nothing when the head has neither.
  enum class Framing { None, Length, Chunked };
  Result<Framing> framing(std::uint64_t& length) const;

  Http1Limits limits_;
  Headers headers_;
  BodyDecoder body_;
  std::string decoded_;
  int minor_version_ = 1;
  bool keep_alive_ = true;

 private:
  Result<std::size_t> feed_head(std::string_view bytes);
  Result<void> on_line(std::string_view line);
  Result<void> on_field(std::string_view line);
  virtual void on_reset() = 0;

  std::string line_;
  std::size_t header_bytes_ = 0;
  bool start_line_done_ = false;
  bool head_done_ = false;
};

// A server's side. Errors: BadRequest, TooLarge (body or head).
class RequestParser final : public MessageParser {
 public:
  explicit RequestParser(Http1Limits limits = {}) : MessageParser(limits) {}
  // After done(): the request. What the head said about the connection stays until restart().
  HttpRequest take();
  // Ready for the next request.
  void restart() { reset(); }
  // The client waits for "100 Continue" before it sends the body.
  [[nodiscard]] bool expects_continue() const;

 private:
  Result<void> on_start_line(std::string_view line) override;
  Result<void> on_head_done() override;
  void on_reset() override;
  HttpRequest request_;
};

// A client's side; 1xx answers are skipped. Errors: Parse, TooLarge.
class ResponseParser final : public MessageParser {
 public:
  enum class Body { Normal, NoneExpected };  // NoneExpected: the answer to HEAD
  explicit ResponseParser(Http1Limits limits = {}, Body body = Body::Normal)
      : MessageParser(limits), expected_(body) {}

  // After head_done().
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] const Headers& headers() const { return headers_; }
  Headers take_headers() { return std::move(headers_); }
  // What has been decoded since the last call.
  std::string take_body() { return std::exchange(decoded_, {}); }
  [[nodiscard]] std::size_t decoded() const { return decoded_.size(); }
  // The peer closed: the end of a body without length, an error anywhere else.
  Result<void> end_of_stream();

 private:
  Result<void> on_start_line(std::string_view line) override;
  Result<void> on_head_done() override;
  void on_reset() override;
  Body expected_;
  int status_ = 0;
  int interim_ = 0;
};

void append_request_head(std::string& out, const HttpRequest& request, std::string_view host);
enum class BodyFraming { Length, Chunked, None };
// Content-Length and Transfer-Encoding come from `framing`, not from the headers; None for 204 and
// 304.
void append_response_head(std::string& out, int status, const Headers& headers, BodyFraming framing,
                          std::size_t length, bool keep_alive);
// Before and after the bytes of a chunk, which are never none: that would end the body.
std::string chunk_head(std::size_t bytes);
inline constexpr std::string_view kChunkEnd = "\r\n";
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace muster::net
