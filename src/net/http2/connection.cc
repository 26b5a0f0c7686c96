#include "net/http2/connection.h"

#include <vector>

#include <fmt/format.h>

namespace muster::net {

namespace {
constexpr std::size_t kReadBytes = std::size_t{32} << 10U;   // two TLS records
constexpr std::size_t kWriteBytes = std::size_t{64} << 10U;  // about 25 pod creations in one go
// 16 × 32 KiB at ~1 GB/s is half a millisecond; then others have a turn.
constexpr int kReadsPerTurn = 16;
}  // namespace

// A request in flight. Its end gives the stream up if the answer is not complete.
class Http2Connection::Exchange final : public Http2Stream {
 public:
  Exchange(std::shared_ptr<Http2Connection> connection, HttpRequest to_send, Mode how,
           std::size_t max_body_bytes)
      : Http2Stream(std::move(to_send), how, max_body_bytes), connection_(std::move(connection)) {}
  ~Exchange() override {
    if (id == 0 || ended) return;
    connection_->session_.forget(*this);
    connection_->flush();
    connection_->end_if_drained();
  }

  void changed() override {
    if (waiting_) waiting_->set({});
  }
  // Until the session changed something.
  Task<Result<void>> wait() {
    waiting_.emplace(connection_->loop_);
    const auto pending = *waiting_;
    auto result = co_await pending;
    waiting_.reset();
    co_return result;
  }
  [[nodiscard]] Http2Connection& connection() { return *connection_; }

 private:
  std::shared_ptr<Http2Connection> connection_;
  std::optional<rt::Pending<void>> waiting_;
};

// The streaming answer that a caller holds.
class Http2Connection::Answer final : public ResponseStream {
 public:
  explicit Answer(std::unique_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}

  int status() const override { return exchange_->response.status; }
  const Headers& headers() const override { return exchange_->response.headers; }

  Task<Result<std::optional<std::string>>> next() override {
    while (exchange_->response.body.empty()) {
      if (exchange_->ended && exchange_->error) co_return fail(*exchange_->error);
      if (exchange_->ended) co_return std::optional<std::string>();
      CO_TRY(co_await exchange_->wait());
    }
    auto body = exchange_->connection().session_.take_body(*exchange_);
    exchange_->connection().flush();
    co_return std::optional(std::move(body));
  }

 private:
  std::unique_ptr<Exchange> exchange_;
};

Http2Connection::Http2Connection(rt::Loop& loop, std::unique_ptr<Stream> stream, Options options)
    : loop_(loop),
      stream_(std::move(stream)),
      options_(std::move(options)),
      session_(options_.session),
      scope_(loop),
      dirty_(loop),
      over_(loop),
      last_received_(loop.monotonic()) {}

Http2Connection::~Http2Connection() = default;

Task<void> Http2Connection::run() {
  scope_.spawn(read_loop());
  scope_.spawn(write_loop());
  scope_.spawn(watch_silence());
  [[maybe_unused]] const auto waited = co_await over_.wait();
  if (!broken_) end({.code = ErrorCode::Unavailable, .message = "the client was closed"});
  stream_->close();
  co_await scope_.close();
}

void Http2Connection::end(Error reason) {
  if (broken_) return;
  reason.code = ErrorCode::Unavailable;
  broken_ = reason.in(options_.name);
  session_.fail_all(*broken_);
  over_.set();
}

void Http2Connection::drain() {
  draining_ = true;
  end_if_drained();
}

void Http2Connection::end_if_drained() {
  if (session_.streams() > 0 || usable()) return;
  end({.code = ErrorCode::Unavailable, .message = "the connection was left"});
}

Task<void> Http2Connection::read_loop() {
  std::vector<char> buffer(kReadBytes);
  for (int turn = 1;; ++turn) {
    const auto count = co_await stream_->read(buffer);
    if (!count) co_return end(count.error());
    if (*count == 0) co_return end({.message = "the server closed the connection"});
    last_received_ = loop_.monotonic();
    const auto received = session_.receive({buffer.data(), *count});
    flush();  // acknowledgements, window updates, or the reason of a failure
    if (!received) co_return end(received.error());
    end_if_drained();
    if (turn % kReadsPerTurn == 0 && !co_await rt::yield(loop_)) co_return;
  }
}

Task<void> Http2Connection::write_loop() {
  std::string out;
  while (true) {
    dirty_.reset();
    out.clear();
    const auto filled = session_.output(out, kWriteBytes);
    if (!filled) co_return end(filled.error());
    if (out.empty()) {
      if (!co_await dirty_.wait()) co_return;
      continue;
    }
    const auto written = co_await stream_->write(out);
    if (!written) co_return end(written.error());
  }
}

Task<void> Http2Connection::watch_silence() {
  while (true) {
    const Duration silent = loop_.monotonic() - last_received_;
    if (silent < options_.ping_interval) {
      if (!co_await rt::sleep_for(loop_, options_.ping_interval - silent)) co_return;
      continue;
    }
    const Monotonic asked = loop_.monotonic();
    session_.ping();
    flush();
    if (!co_await rt::sleep_for(loop_, options_.ping_deadline)) co_return;
    if (last_received_ < asked) {
      co_return end({.message = fmt::format("no answer to a ping in {} ms",
                                            std::chrono::duration_cast<std::chrono::milliseconds>(
                                                options_.ping_deadline)
                                                .count())});
    }
  }
}

Result<void> Http2Connection::submit(Exchange& exchange) {
  if (broken_) return fail(*broken_);
  TRY(session_.submit(exchange));
  flush();
  return {};
}

Task<Result<HttpResponse>> Http2Connection::send(std::shared_ptr<Http2Connection> self,
                                                 HttpRequest& request, std::size_t max_body,
                                                 bool& unprocessed) {
  Exchange exchange(self, std::move(request), Http2Stream::Mode::Whole, max_body);
  CO_TRY(self->submit(exchange));
  while (!exchange.ended) CO_TRY(co_await exchange.wait());
  if (!exchange.error) co_return std::move(exchange.response);
  unprocessed = exchange.unprocessed;
  if (unprocessed) request = std::move(exchange.request);
  co_return fail(*exchange.error);
}

Task<Result<std::unique_ptr<ResponseStream>>> Http2Connection::open(
    std::shared_ptr<Http2Connection> self, HttpRequest& request, bool& unprocessed) {
  auto exchange =
      std::make_unique<Exchange>(self, std::move(request), Http2Stream::Mode::Pieces, 0);
  CO_TRY(self->submit(*exchange));
  while (!exchange->head_done && !exchange->ended) CO_TRY(co_await exchange->wait());
  if (!exchange->head_done) {
    unprocessed = exchange->unprocessed;
    if (unprocessed) request = std::move(exchange->request);
    co_return fail(exchange->error.value_or(
        Error{.code = ErrorCode::Parse, .message = "the stream ended without an answer"}));
  }
  co_return std::unique_ptr<ResponseStream>(std::make_unique<Answer>(std::move(exchange)));
}

}  // namespace muster::net
