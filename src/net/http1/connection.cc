#include "net/http1/connection.h"

namespace muster::net {

namespace {

constexpr std::size_t kReadBytes = std::size_t{32} << 10U;
constexpr std::size_t kJoinBytes = std::size_t{64}
                                   << 10U;  // up to here one write beats saving a copy

// What the parser calls a bad request is, from a server, a bad answer.
Error as_answer(Error error) {
  if (error.code == ErrorCode::BadRequest) error.code = ErrorCode::Parse;
  return error;
}

}  // namespace

Task<Result<void>> Http1Connection::start(const HttpRequest& request, std::string host,
                                          Http1Limits limits) {
  answered_ = false;
  parser_.emplace(limits, request.method == "HEAD" ? ResponseParser::Body::NoneExpected
                                                   : ResponseParser::Body::Normal);
  if (buffer_.empty()) buffer_.resize(kReadBytes);
  std::string out;
  append_request_head(out, request, host);
  const bool joined = request.body.size() <= kJoinBytes;
  if (joined) out.append(request.body);
  auto written = co_await stream_->write(out);
  if (written && !joined) written = co_await stream_->write(request.body);
  if (!written && written.error().code == ErrorCode::Cancelled) co_return written;
  while (!written && !parser_->head_done()) {
    // A server that refuses a request (too large) answers and closes before it has read all of it.
    if (!co_await read_more()) co_return written;
  }
  while (!parser_->head_done()) CO_TRY(co_await read_more());
  co_return Result<void>{};
}

Task<Result<void>> Http1Connection::read_more() {
  const std::size_t count = CO_TRY(co_await stream_->read(buffer_));
  if (count == 0) co_return parser_->end_of_stream();
  answered_ = true;
  const std::string_view bytes(buffer_.data(), count);
  const auto taken = parser_->feed(bytes);
  if (!taken) co_return fail(as_answer(taken.error()));
  if (*taken < count) surplus_ = true;
  co_return Result<void>{};
}

Task<Result<std::optional<std::string>>> Http1Connection::next() {
  while (parser_->decoded() == 0) {
    if (parser_->done()) co_return std::optional<std::string>();
    CO_TRY(co_await read_more());
  }
  co_return std::optional(parser_->take_body());
}

Task<Result<HttpResponse>> Http1Connection::rest() {
  while (!parser_->done()) CO_TRY(co_await read_more());
  HttpResponse response{.status = parser_->status()};
  response.body = parser_->take_body();
  response.headers = parser_->take_headers();
  co_return response;
}

bool Http1Connection::reusable() {
  return !surplus_ && (!parser_ || (parser_->done() && parser_->keep_alive())) && stream_->quiet();
}

}  // namespace muster::net
