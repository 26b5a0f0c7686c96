#include "net/http_server_connection.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace muster::net {

namespace {

// Read ahead of the handler, and as much again with the last read.
constexpr std::size_t kMaxInbox = std::size_t{16} << 10U;
// Below this, pieces are put together; what is larger is sent from where it is.
constexpr std::size_t kCopied = std::size_t{16} << 10U;
// How long the rest of a refused request is read, so that the peer sees our answer and not a reset.
constexpr auto kLinger = std::chrono::seconds(1);

}  // namespace

// The connection after an upgrade: what was read ahead comes first.
class ServerConnection::Upgraded final : public Stream {
 public:
  explicit Upgraded(ServerConnection& connection) : connection_(connection) {}

  Task<Result<std::size_t>> read(std::span<char> into) override {
    while (connection_.inbox_.empty()) {
      if (connection_.ended_) co_return std::size_t{0};
      connection_.arrived_.reset();
      CO_TRY(co_await connection_.arrived_.wait());
    }
    const std::size_t count = std::min(into.size(), connection_.inbox_.size());
    std::memcpy(into.data(), connection_.inbox_.data(), count);
    connection_.inbox_.erase(0, count);
    connection_.taken_.set();
    co_return count;
  }
  Task<Result<void>> write(std::string_view bytes) override {
    return connection_.stream_->write(bytes);
  }
  Task<Result<void>> shutdown() override { return connection_.stream_->shutdown(); }
  void close() override { connection_.stream_->close(); }
  bool quiet() override { return connection_.inbox_.empty() && !connection_.ended_; }
  Peer peer() const override { return connection_.peer_; }

 private:
  ServerConnection& connection_;
};

// What the handler answers with.
class ServerConnection::Answer final : public Responder {
 public:
  Answer(ServerConnection& connection, const HttpRequest& request, bool keep_alive, bool chunks)
      : connection_(connection),
        safe_(request.method == "GET"),
        head_only_(request.method == "HEAD"),
        keep_alive_(keep_alive),
        chunks_(chunks) {}

  Task<Result<void>> respond(HttpResponse response) override {
    CHECK(state_ == State::Nothing);
    const bool bodiless = response.status == 204 || response.status == 304;
    const bool large = response.body.size() > kCopied && !head_only_;
    if (large && !connection_.place_.take_answer(response.body.size())) {
      if (safe_) response = too_much_unread();
    }
    std::string out;
    append_response_head(out, response.status, response.headers,
                         bodiless ? BodyFraming::None : BodyFraming::Length, response.body.size(),
                         keep_alive_);
    state_ = State::Finished;
    auto sent = co_await send(std::move(out), bodiless || head_only_ ? "" : response.body);
    connection_.place_.give_back_answer();
    co_return sent;
  }

  Task<Result<void>> begin(int status, Headers headers) override {
    CHECK(state_ == State::Nothing);
    if (!chunks_) keep_alive_ = false;  // HTTP/1.0: the body lasts until the connection ends
    std::string out;
    append_response_head(out, status, headers, chunks_ ? BodyFraming::Chunked : BodyFraming::None,
                         0, keep_alive_);
    state_ = State::Streaming;
    co_return co_await send(std::move(out));
  }

  Task<Result<void>> write_chunk(std::string_view bytes) override {
    CHECK(state_ == State::Streaming);
    if (bytes.empty() || head_only_) co_return Result<void>{};
    if (!chunks_) co_return co_await send({}, bytes);
    co_return co_await send(chunk_head(bytes.size()), bytes, kChunkEnd);
  }

  Task<Result<void>> finish() override {
    CHECK(state_ == State::Streaming);
    state_ = State::Finished;
    co_return co_await send(std::string(chunks_ && !head_only_ ? kLastChunk : std::string_view()));
  }

  Task<Result<std::unique_ptr<Stream>>> upgrade(Headers headers) override {
    CHECK(state_ == State::Nothing);
    std::string out;
    append_response_head(out, 101, headers, BodyFraming::None, 0, true);
    state_ = State::Upgraded;
    connection_.upgraded_ = true;
    CO_TRY(co_await send(std::move(out)));
    co_return std::make_unique<Upgraded>(connection_);
  }

  const Peer& peer() const override { return connection_.peer_; }

  [[nodiscard]] bool untouched() const { return state_ == State::Nothing; }
  [[nodiscard]] bool reusable() const {
    return state_ == State::Finished && keep_alive_ && !broken_;
  }

 private:
  enum class State { Nothing, Streaming, Finished, Upgraded };

  static HttpResponse too_much_unread() {
    return {.status = 429,
            .headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"Retry-After", "1"}},
            .body = "too many large answers are on their way; try again\n"};
  }

  Task<Result<void>> send(std::string head, std::string_view body = {},
                          std::string_view tail = {}) {
    if (broken_) co_return fail(ErrorCode::Unavailable, "the peer is gone");
    std::vector<std::string_view> pieces;
    if (body.size() <= kCopied) {
      head.append(body).append(tail);
      pieces = {head};
    } else {
      pieces = {head, body, tail};
    }
    auto written = co_await connection_.write(std::move(pieces));
    if (!written) broken_ = true;
    co_return written;
  }

  ServerConnection& connection_;
  State state_ = State::Nothing;
  bool safe_;  // asked again it does nothing twice
  bool head_only_;
  bool keep_alive_;
  bool chunks_;
  bool broken_ = false;
};

ServerConnection::ServerConnection(const Shared& shared, std::unique_ptr<Stream> stream)
    : loop_(shared.loop),
      stream_(std::move(stream)),
      handler_(shared.handler),
      options_(shared.options),
      scratch_(shared.scratch),
      place_(shared.connections, *stream_),
      parser_({.header_bytes = options_.max_header_bytes,
               .header_count = limits::kMaxHeaders,
               .uri_bytes = options_.max_uri_bytes,
               .body_bytes = options_.max_body_bytes}),
      peer_{.client = stream_->client()},
      arrived_(loop_),
      taken_(loop_),
      scope_(loop_) {}

Task<void> ServerConnection::run() {
  scope_.spawn(read_loop());
  co_await serve();
  stream_->close();
  co_await scope_.close();
}

Task<void> ServerConnection::read_loop() {
  while (true) {
    while (inbox_.size() > kMaxInbox && !discarding_) {
      taken_.reset();
      if (!co_await taken_.wait()) co_return;
    }
    const auto count = co_await stream_->read(scratch_);
    if (!count && count.error().code == ErrorCode::Cancelled) co_return;
    if (!count) options_.log.debug("{}", count.error().message);
    if (!count || *count == 0) break;
    if (!discarding_) inbox_.append(scratch_.data(), *count);
    arrived_.set();
  }
  ended_ = true;
  arrived_.set();
  if (handling_ && !upgraded_) handling_->request_stop();
}

Task<void> ServerConnection::serve() {
  while (true) {
    auto request = co_await next_request();
    if (!request) co_return co_await refuse(request.error());
    if (!*request) co_return;
    if (!co_await answer(std::move(**request), parser_.keep_alive(), parser_.is_old())) co_return;
  }
}

Task<Result<void>> ServerConnection::wait_for_bytes() {
  arrived_.reset();
  if (parser_.started() && !deadline_) deadline_ = loop_.monotonic() + options_.read_timeout;
  const Duration limit = deadline_ ? *deadline_ - loop_.monotonic() : options_.idle_timeout;
  co_return co_await rt::with_timeout(loop_, limit, arrived_.wait());
}

// A large body is let in when there is room for all of it. The time that it waits for that is not
// its sender's.
Task<Result<void>> ServerConnection::make_way_for_body() {
  const std::size_t bytes = parser_.body_bytes();
  if (bytes <= options_.small_request_bytes) co_return Result<void>{};
  CO_TRY(co_await place_.take_request(bytes));
  deadline_ = loop_.monotonic() + options_.read_timeout;
  co_return Result<void>{};
}

Task<Result<std::optional<HttpRequest>>> ServerConnection::next_request() {
  deadline_.reset();
  bool continued = false;
  bool let_in = false;
  parser_.restart();
  place_.now(Connections::Doing::Waiting);
  while (true) {
    if (!inbox_.empty()) {
      const std::size_t count = CO_TRY(parser_.feed(inbox_));
      inbox_.erase(0, count);
      taken_.set();
      if (!deadline_ && parser_.started()) place_.now(Connections::Doing::Reading);
    }
    if (parser_.head_done() && !std::exchange(let_in, true)) CO_TRY(co_await make_way_for_body());
    if (parser_.done()) co_return std::optional(parser_.take());
    if (ended_ && !parser_.started()) co_return std::optional<HttpRequest>();
    if (ended_) co_return fail(ErrorCode::Unavailable, "the peer left in the middle of a request");
    if (parser_.expects_continue() && !std::exchange(continued, true)) {
      CO_TRY(co_await write({kContinue}));
    }
    const auto waited = co_await wait_for_bytes();
    if (waited) continue;
    // An idle connection just ends; a slow request is told.
    const bool idle = waited.error().code == ErrorCode::Timeout && !parser_.started();
    if (idle) co_return std::optional<HttpRequest>();
    co_return fail(waited.error());
  }
}

Task<bool> ServerConnection::answer(HttpRequest request, bool keep_alive, bool is_old) {
  place_.now(Connections::Doing::Handling);
  if (!std::exchange(known_, true)) peer_ = stream_->peer();
  // Memory that was needed once is not kept for the life of an idle connection.
  if (inbox_.empty()) inbox_.shrink_to_fit();
  handling_.emplace();
  const auto on_stop = [this] { handling_->request_stop(); };
  {
    const std::stop_callback linked(co_await rt::current_stop(), on_stop);
    if (ended_) handling_->request_stop();
    Answer responder(*this, request, keep_alive, !is_old);
    auto handling = handler_.handle(request, responder).with_stop(handling_->get_token());
    co_await std::move(handling);
    if (responder.untouched() && !ended_) {
      [[maybe_unused]] const auto sent = co_await responder.respond({.status = 500});
    }
    keep_alive = responder.reusable();
  }
  handling_.reset();
  co_return keep_alive;
}

Task<void> ServerConnection::refuse(Error error) {
  int status = 400;
  if (error.code == ErrorCode::Cancelled || error.code == ErrorCode::Unavailable) co_return;
  if (error.code == ErrorCode::Timeout) status = 408;
  if (error.code == ErrorCode::TooLarge) status = parser_.head_done() ? 413 : 431;
  Headers headers{{"Content-Type", "text/plain; charset=utf-8"}};
  if (error.code == ErrorCode::TooManyRequests) {
    status = 429;
    headers.set("Retry-After", "1");
  }
  const std::string body = error.message + "\n";
  std::string out;
  append_response_head(out, status, headers, BodyFraming::Length, body.size(), false);
  out.append(body);
  discarding_ = true;
  taken_.set();
  if (!co_await write({out})) co_return;
  if (!co_await stream_->shutdown()) co_return;
  const Monotonic until = loop_.monotonic() + kLinger;
  while (!ended_ && loop_.monotonic() < until) {
    arrived_.reset();
    if (!co_await rt::with_timeout(loop_, until - loop_.monotonic(), arrived_.wait())) co_return;
  }
}

Task<Result<void>> ServerConnection::write(std::vector<std::string_view> pieces) {
  return rt::with_timeout(loop_, options_.write_timeout, write_all(std::move(pieces)));
}

Task<Result<void>> ServerConnection::write_all(std::vector<std::string_view> pieces) {
  for (const std::string_view piece : pieces) CO_TRY(co_await stream_->write(piece));
  co_return Result<void>{};
}

}  // namespace muster::net
