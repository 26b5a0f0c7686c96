#include "net/websocket/web_socket.h"

#include <fmt/format.h>

#include "net/http1/protocol.h"
#include "net/websocket/handshake.h"

namespace muster::net {

namespace {

constexpr std::size_t kReadBytes = std::size_t{32} << 10U;
constexpr auto kCloseWait = std::chrono::seconds(1);

WebSocketSide other(WebSocketSide side) {
  return side == WebSocketSide::Client ? WebSocketSide::Server : WebSocketSide::Client;
}

}  // namespace

WebSocket::WebSocket(rt::Loop& loop, std::unique_ptr<Stream> stream, Rng& rng, Options options)
    : loop_(loop),
      stream_(std::move(stream)),
      rng_(rng),
      options_(std::move(options)),
      reader_(other(options_.side), options_.max_message_bytes),
      inbox_(std::move(options_.received)),
      buffer_(kReadBytes),
      writing_(loop, 1) {}

Task<Result<void>> WebSocket::read_more() {
  const std::size_t count = CO_TRY(co_await stream_->read(buffer_));
  if (count == 0) co_return fail(ErrorCode::Unavailable, "the WebSocket ended without a word");
  inbox_.append(buffer_.data(), count);
  co_return Result<void>{};
}

// Of any kind; nothing is answered here.
Task<Result<std::optional<WebSocketMessage>>> WebSocket::next_frame() {
  while (true) {
    const std::size_t taken = CO_TRY(reader_.feed(inbox_));
    inbox_.erase(0, taken);
    if (auto message = reader_.take()) co_return message;
    CO_TRY(co_await read_more());
  }
}

Task<Result<std::optional<WebSocketMessage>>> WebSocket::next() {
  if (closed_by_peer_) co_return std::optional<WebSocketMessage>();
  while (true) {
    auto message = co_await next_frame();
    if (!message) {
      const ErrorCode code = message.error().code;
      if (code == ErrorCode::Parse || code == ErrorCode::TooLarge) {
        const auto told =
            code == ErrorCode::Parse ? WebSocketClose::ProtocolError : WebSocketClose::TooLarge;
        co_await close(told, message.error().message);
      }
      co_return fail(message.error());
    }
    switch ((*message)->kind) {
      case WebSocketMessage::Kind::Ping:
        CO_TRY(co_await answer_ping(std::move((*message)->bytes)));
        break;
      case WebSocketMessage::Kind::Pong:
        break;
      case WebSocketMessage::Kind::Close:
        closed_by_peer_ = true;
        peer_reason_ = describe_close((*message)->bytes);
        co_return std::optional<WebSocketMessage>();
      case WebSocketMessage::Kind::Text:
      case WebSocketMessage::Kind::Binary:
        co_return message;
    }
  }
}

// A peer that does not read gets no pong, but is still read: two that wait for each other to read
// would wait for ever.
Task<Result<void>> WebSocket::answer_ping(std::string bytes) {
  owed_pong_ = std::move(bytes);
  if (writing_.free() <= 0) co_return Result<void>{};  // who writes now writes it afterwards
  const auto permit = CO_TRY(co_await writing_.enter());
  const std::string pong = std::exchange(owed_pong_, std::nullopt).value_or("");
  co_return co_await write_message(WebSocketMessage::Kind::Pong, pong);
}

Task<Result<void>> WebSocket::write_message(WebSocketMessage::Kind kind, std::string_view bytes) {
  std::string out;
  std::optional<std::uint32_t> mask;
  if (options_.side == WebSocketSide::Client) mask = static_cast<std::uint32_t>(rng_.next());
  append_message(out, kind, bytes, mask);
  if (owed_pong_ && kind != WebSocketMessage::Kind::Close) {
    append_message(out, WebSocketMessage::Kind::Pong, *std::exchange(owed_pong_, std::nullopt),
                   mask);
  }
  co_return co_await stream_->write(out);
}

Task<Result<void>> WebSocket::send(WebSocketMessage::Kind kind, std::string_view bytes) {
  const auto permit = CO_TRY(co_await writing_.enter());
  CO_TRY(co_await write_message(kind, bytes));
  while (owed_pong_) {
    const std::string pong = *std::exchange(owed_pong_, std::nullopt);
    CO_TRY(co_await write_message(WebSocketMessage::Kind::Pong, pong));
  }
  co_return Result<void>{};
}

Task<void> WebSocket::close(WebSocketClose code, std::string reason) {
  const auto say = [](WebSocket& self, std::string body) -> Task<Result<void>> {
    const auto permit = CO_TRY(co_await self.writing_.enter());
    CO_TRY(co_await self.write_message(WebSocketMessage::Kind::Close, body));
    while (!self.closed_by_peer_) {
      self.inbox_.clear();
      CO_TRY(co_await self.read_more());
    }
    co_return Result<void>{};
  };
  [[maybe_unused]] const auto said =
      co_await rt::with_timeout(loop_, kCloseWait, say(*this, close_body(code, reason)));
  stream_->close();
}

Task<Result<std::unique_ptr<WebSocket>>> accept_web_socket(rt::Loop& loop, Rng& rng,
                                                           const HttpRequest& request,
                                                           Responder& responder,
                                                           std::string subprotocol) {
  Headers headers = CO_TRY(acceptance_of(request, subprotocol));
  auto stream = CO_TRY(co_await responder.upgrade(std::move(headers)));
  co_return std::make_unique<WebSocket>(
      loop, std::move(stream), rng,
      WebSocket::Options{.side = WebSocketSide::Server, .subprotocol = std::move(subprotocol)});
}

Task<Result<WebSocketAnswer>> open_web_socket(rt::Loop& loop, Rng& rng, Connector& connector,
                                              HttpRequest request,
                                              std::vector<std::string> subprotocols) {
  const std::string key = offer_web_socket(request, subprotocols, rng);
  CO_TRY(check_sendable(request));
  auto stream = CO_TRY(co_await connector.connect());
  std::string out;
  append_request_head(out, request, connector.authority());
  CO_TRY(co_await stream->write(out));
  ResponseParser parser;
  std::vector<char> buffer(kReadBytes);
  std::string rest;
  while (!parser.done()) {
    const std::size_t count = CO_TRY(co_await stream->read(buffer));
    if (count == 0) {
      CO_TRY(parser.end_of_stream());
      break;
    }
    const std::size_t taken = CO_TRY(parser.feed({buffer.data(), count}));
    rest.assign(buffer.data() + taken, count - taken);
  }
  WebSocketAnswer answer;
  if (parser.status() != 101) {
    answer.refusal = {.status = parser.status(), .headers = parser.headers()};
    answer.refusal.body = parser.take_body();
    co_return answer;
  }
  std::string chosen =
      CO_TRY(check_web_socket_answer(parser.status(), parser.headers(), key, subprotocols));
  answer.socket = std::make_unique<WebSocket>(loop, std::move(stream), rng,
                                              WebSocket::Options{.side = WebSocketSide::Client,
                                                                 .subprotocol = std::move(chosen),
                                                                 .received = std::move(rest)});
  co_return answer;
}

}  // namespace muster::net
