#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/strings.h"
#include "net/http1/protocol.h"

namespace muster::net {

namespace {

// A length as digits only: no sign, no list, no blanks; 18 digits cannot overflow.
std::optional<std::uint64_t> plain_number(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// 1 or 0 of "HTTP/1.1" or "HTTP/1.0".
std::optional<int> minor_version(std::string_view version) {
  if (version == "HTTP/1.1") return 1;
  if (version == "HTTP/1.0") return 0;
  return std::nullopt;
}

}  // namespace

Result<std::size_t> MessageParser::feed(std::string_view bytes) {
  std::size_t taken = 0;
  while (!head_done_ && taken < bytes.size()) taken += TRY(feed_head(bytes.substr(taken)));
  if (head_done_ && !body_.done() && taken < bytes.size()) {
    taken += TRY(body_.feed(bytes.substr(taken), decoded_));
    if (decoded_.size() > limits_.body_bytes) {
      return fail(ErrorCode::TooLarge,
                  fmt::format("the body is larger than {} bytes", limits_.body_bytes));
    }
  }
  return taken;
}

// Takes at most one line.
Result<std::size_t> MessageParser::feed_head(std::string_view bytes) {
  const auto end = bytes.find('\n');
  const auto part = bytes.substr(0, end == std::string_view::npos ? bytes.size() : end + 1);
  header_bytes_ += part.size();
  if (header_bytes_ > limits_.header_bytes) {
    return fail(ErrorCode::TooLarge,
                fmt::format("the head is larger than {} bytes", limits_.header_bytes));
  }
  if (end == std::string_view::npos) {
    line_.append(part);
    return part.size();
  }
  std::string_view line = part;
  if (!line_.empty()) {
    line_.append(part);
    line = line_;
  }
  if (!line.ends_with("\r\n"))
    return fail(ErrorCode::BadRequest, "a line of the head ends without CR LF");
  line.remove_suffix(2);
  TRY(on_line(line));
  line_.clear();
  return part.size();
}

Result<void> MessageParser::on_line(std::string_view line) {
  if (!start_line_done_) {
    if (line.empty())
      return {};  // empty lines before a message are allowed; they count as head bytes
    TRY(on_start_line(line));
    start_line_done_ = true;
    return {};
  }
  if (!line.empty()) return on_field(line);
  head_done_ = true;
  const bool close = headers_.has_token("Connection", "close");
  const bool keep = headers_.has_token("Connection", "keep-alive");
  keep_alive_ = !close && (minor_version_ == 1 || keep);
  return on_head_done();
}

Result<void> MessageParser::on_field(std::string_view line) {
  if (headers_.size() >= limits_.header_count) {
    return fail(ErrorCode::TooLarge,
                fmt::format("more than {} header fields", limits_.header_count));
  }
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !is_header_name(line.substr(0, colon))) {
    // Also a folded line, and blanks between a name and its colon.
    return fail(ErrorCode::BadRequest, "a header field has no valid name");
  }
  const auto value = line.substr(colon + 1);
  if (!is_header_value(value)) {
    return fail(ErrorCode::BadRequest, "a header value has control characters");
  }
  headers_.add(std::string(line.substr(0, colon)), std::string(trim(value)));
  return {};
}

Result<MessageParser::Framing> MessageParser::framing(std::uint64_t& length) const {
  std::size_t lengths = 0;
  std::size_t encodings = 0;
  std::string_view encoding;
  for (const auto& field : headers_) {
    if (equal_ignoring_case(field.name, "Content-Length")) {
      const auto number = plain_number(field.value);
      if (!number) return fail(ErrorCode::BadRequest, "Content-Length is not a number");
      if (++lengths > 1) return fail(ErrorCode::BadRequest, "more than one Content-Length");
      length = *number;
    } else if (equal_ignoring_case(field.name, "Transfer-Encoding")) {
      ++encodings;
      encoding = field.value;
    }
  }
  if (encodings == 0) return lengths == 0 ? Framing::None : Framing::Length;
  if (lengths > 0) return fail(ErrorCode::BadRequest, "both Content-Length and Transfer-Encoding");
  if (encodings > 1 || !equal_ignoring_case(encoding, "chunked") || minor_version_ == 0) {
    return fail(ErrorCode::BadRequest, "the only Transfer-Encoding understood is chunked");
  }
  return Framing::Chunked;
}

void MessageParser::reset() {
  headers_ = {};
  decoded_.clear();
  line_.clear();
  header_bytes_ = 0;
  start_line_done_ = false;
  head_done_ = false;
  keep_alive_ = true;
  body_.start_empty();
  on_reset();
}

Result<void> RequestParser::on_start_line(std::string_view line) {
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return fail(ErrorCode::BadRequest, "the request line is not METHOD TARGET VERSION");
  }
  const auto method = line.substr(0, first);
  const auto target = line.substr(first + 1, last - first - 1);
  const auto version = minor_version(line.substr(last + 1));
  if (!is_header_name(method)) return fail(ErrorCode::BadRequest, "the method is not a token");
  if (!version) return fail(ErrorCode::BadRequest, "the version is neither HTTP/1.1 nor HTTP/1.0");
  if (target.size() > limits_.uri_bytes) {
    return fail(ErrorCode::TooLarge,
                fmt::format("the target is longer than {} bytes", limits_.uri_bytes));
  }
  const bool plain = std::ranges::all_of(target, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7f;
  });
  if (!plain || !(target.starts_with('/') || target == "*")) {
    return fail(ErrorCode::BadRequest, "the target must be a path, percent-encoded");
  }
  minor_version_ = *version;
  request_.method = method;
  request_.target = target;
  return {};
}

Result<void> RequestParser::on_head_done() {
  const auto hosts = std::ranges::count_if(
      headers_, [](const auto& field) { return equal_ignoring_case(field.name, "Host"); });
  if (hosts > 1 || (hosts == 0 && minor_version_ == 1)) {
    return fail(ErrorCode::BadRequest, "exactly one Host header is needed");
  }
  std::uint64_t length = 0;
  switch (TRY(framing(length))) {
    case Framing::None:
      body_.start_empty();
      break;
    case Framing::Chunked:
      body_.start_chunked();
      break;
    case Framing::Length:
      if (length > limits_.body_bytes) {
        return fail(ErrorCode::TooLarge, fmt::format("the body of {} bytes is larger than {}",
                                                     length, limits_.body_bytes));
      }
      body_.start_length(length);
      break;
  }
  return {};
}

bool RequestParser::expects_continue() const {
  return head_done() && minor_version_ == 1 && headers_.has_token("Expect", "100-continue");
}

HttpRequest RequestParser::take() {
  HttpRequest request = std::move(request_);
  request.headers = std::move(headers_);
  request.body = std::move(decoded_);
  return request;
}

void RequestParser::on_reset() {
  request_ = {};
}

Result<void> ResponseParser::on_start_line(std::string_view line) {
  const auto version = minor_version(line.substr(0, line.find(' ')));
  if (!version || line.size() < 12 || (line.size() > 12 && line[12] != ' ')) {
    return fail(ErrorCode::Parse, "the answer does not start with an HTTP/1.1 status line");
  }
  const auto status = plain_number(line.substr(9, 3));
  if (!status || *status < 100 || *status > 599 || !is_header_value(line)) {
    return fail(ErrorCode::Parse, "the answer has no valid status");
  }
  minor_version_ = *version;
  status_ = static_cast<int>(*status);
  return {};
}

Result<void> ResponseParser::on_head_done() {
  // Nobody needs more than one 100 Continue; a peer that sends them for ever is stopped.
  if (status_ >= 100 && status_ < 200 && status_ != 101) {
    if (++interim_ > 8) return fail(ErrorCode::Parse, "too many interim answers");
    reset();
    return {};
  }
  std::uint64_t length = 0;
  const auto kind = TRY(framing(length));
  if (expected_ == Body::NoneExpected || status_ == 204 || status_ == 304 || status_ == 101) {
    body_.start_empty();
  } else if (kind == Framing::Chunked) {
    body_.start_chunked();
  } else if (kind == Framing::Length) {
    body_.start_length(length);
  } else {
    body_.start_until_close();
    keep_alive_ = false;
  }
  return {};
}

Result<void> ResponseParser::end_of_stream() {
  if (done()) return {};
  if (head_done() && body_.until_close()) {
    body_.start_empty();
    return {};
  }
  return fail(ErrorCode::Unavailable, "the connection ended in the middle of an answer");
}

void ResponseParser::on_reset() {
  status_ = 0;
}

}  // namespace muster::net
