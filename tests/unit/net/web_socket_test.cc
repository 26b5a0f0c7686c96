#include "net/websocket/web_socket.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/random.h"
#include "net/websocket/channels.h"
#include "net/websocket/handshake.h"
#include "rt/scope.h"
#include "support.h"

namespace muster::net {
namespace {

using namespace std::chrono_literals;
using Kind = WebSocketMessage::Kind;

std::string frame(unsigned first, std::string_view payload, bool masked = false) {
  std::string out{static_cast<char>(first),
                  static_cast<char>(payload.size() | (masked ? 128U : 0))};
  if (masked) out += std::string(4, '\0');
  return out.append(payload);
}

// Everything that a reader makes of the bytes, one at a time; "! why" at an error.
std::vector<std::string> read(std::string_view bytes, WebSocketSide peer = WebSocketSide::Server,
                              std::size_t limit = 100) {
  WebSocketReader reader(peer, limit);
  std::vector<std::string> seen;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const auto taken = reader.feed(bytes.substr(at, 1));
    if (!taken) {
      seen.push_back("! " + taken.error().message);
      break;
    }
    at += *taken;
    if (auto message = reader.take())
      seen.push_back(fmt::format("{} {}", static_cast<int>(message->kind), message->bytes));
  }
  return seen;
}

using Seen = std::vector<std::string>;

TEST(WebSocketReaderTest, PutsPiecesTogetherWithControlFramesBetween) {
  const auto bytes =
      frame(0x01, "ab") + frame(0x89, "ping") + frame(0x00, "cd") + frame(0x80, "ef");
  EXPECT_EQ(read(bytes), (Seen{"2 ping", "0 abcdef"}));
  EXPECT_EQ(read(frame(0x82, "") + frame(0x88, "")), (Seen{"1 ", "4 "}));
}

TEST(WebSocketReaderTest, RefusesWhatIsNotTheProtocol) {
  const auto why = [](std::string_view bytes, WebSocketSide peer = WebSocketSide::Server) {
    const auto seen = read(bytes, peer);
    return seen.empty() ? std::string("nothing") : seen.back();
  };
  EXPECT_EQ(why(frame(0xc2, "x")), "! a WebSocket frame with a bit of an extension");
  EXPECT_EQ(why(frame(0x83, "x")), "! a WebSocket frame of unknown kind 3");
  EXPECT_EQ(why(frame(0x82, "x", true)), "! a WebSocket frame of a server with a mask");
  EXPECT_EQ(why(frame(0x82, "x"), WebSocketSide::Client),
            "! a WebSocket frame of a client without a mask");
  EXPECT_EQ(why(frame(0x09, "x")), "! a WebSocket control frame in pieces or too long");
  EXPECT_EQ(why(frame(0x80, "x")), "! a WebSocket frame that continues nothing");
  EXPECT_EQ(why(frame(0x01, "x") + frame(0x81, "y")), "! a WebSocket message within another one");
  EXPECT_EQ(why(std::string("\x82\x7e\x00\x05", 4)), "! a WebSocket length with needless bytes");
  EXPECT_EQ(why(frame(0x81, "\xff")), "! a WebSocket text that is not UTF-8");
  EXPECT_EQ(why(frame(0x88, "\x03")), "! a WebSocket close with half a code");
  EXPECT_EQ(why(frame(0x88, "\x03\xed")), "! a WebSocket close with code 1005");
}

TEST(WebSocketReaderTest, HoldsNoMoreThanAMessageOfTheLimit) {
  const std::string half(60, 'x');
  EXPECT_EQ(read(frame(0x02, half) + frame(0x80, half)),
            Seen{"! a WebSocket message of more than 100 bytes"});
  EXPECT_EQ(read(std::string("\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff", 10)),
            Seen{"! a WebSocket message of more than 100 bytes"});
}

TEST(WebSocketWriterTest, WhatIsWrittenIsRead) {
  for (const std::size_t size : {0U, 1U, 125U, 126U, 65535U, 65536U, 70000U}) {
    for (const bool masked : {false, true}) {
      const std::string bytes(size, 'a');
      std::string out;
      append_message(out, Kind::Binary, bytes, masked ? std::optional(0xdeadbeefU) : std::nullopt);
      WebSocketReader reader(masked ? WebSocketSide::Client : WebSocketSide::Server, 100'000);
      ASSERT_EQ(reader.feed(out).value(), out.size());
      EXPECT_EQ(reader.take().value().bytes, bytes) << size;
    }
  }
}

TEST(WebSocketWriterTest, AReasonIsCutAtACharacter) {
  const auto body = close_body(WebSocketClose::ProtocolError, std::string(122, 'x') + "é");
  EXPECT_EQ(body.size(), 124U);
  EXPECT_EQ(describe_close(body), "1002 " + std::string(122, 'x'));
  EXPECT_EQ(describe_close(""), "");
}

HttpRequest asking(std::string subprotocols) {
  HttpRequest request;
  request.headers = {{"Connection", "keep-alive, Upgrade"},
                     {"Upgrade", "websocket"},
                     {"Sec-WebSocket-Version", "13"},
                     {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
                     {"Sec-WebSocket-Protocol", std::move(subprotocols)}};
  return request;
}

TEST(WebSocketHandshakeTest, ProvesThatTheKeyWasRead) {
  const auto headers = acceptance_of(asking("chat"), "chat").value();
  EXPECT_EQ(headers.get("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_EQ(headers.get("Sec-WebSocket-Protocol"), "chat");
}

TEST(WebSocketHandshakeTest, RefusesWhatIsNoProperRequest) {
  auto old = asking("chat");
  old.headers.set("Sec-WebSocket-Version", "8");
  EXPECT_EQ(acceptance_of(old, "").error().message, "Sec-WebSocket-Version must be 13");
  auto keyless = asking("chat");
  keyless.headers.set("Sec-WebSocket-Key", "c2hvcnQ=");
  EXPECT_EQ(acceptance_of(keyless, "").error().message,
            "Sec-WebSocket-Key must be 16 bytes in base64");
}

TEST(ChannelsTest, ChoosesTheNewestThatBothSpeakAndSaysWhyNone) {
  EXPECT_EQ(choose_channels(asking("v4.channel.k8s.io, v5.channel.k8s.io"), "").value(),
            kChannelsV5);
  EXPECT_EQ(choose_channels(asking("v4.channel.k8s.io"), "").value(), kChannelsV4);
  EXPECT_EQ(choose_channels(asking("base64.channel.k8s.io"), "").error().message,
            "exec needs one of the WebSocket subprotocols v5.channel.k8s.io and v4.channel.k8s.io");
  HttpRequest spdy;
  spdy.headers = {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}};
  EXPECT_EQ(choose_channels(spdy, "not SPDY").error().message, "not SPDY");
  EXPECT_EQ(choose_channels({}, "").error().message, "Upgrade request required");
}

// What came in, as text; ends when its input does, or when it is told to.
class EchoProgram final : public rt::RemoteProgram {
 public:
  explicit EchoProgram(rt::Loop& loop) : events_(loop, 100) {}
  Task<Result<Event>> next() override { return events_.pop(); }
  Task<Result<void>> write(std::string bytes) override {
    if (bytes == "fail") events_.close({.code = ErrorCode::Unavailable, .message = "lost"});
    const bool to_error = bytes.starts_with("e:");
    say(to_error ? rt::ProgramOutput::Stream::Stderr : rt::ProgramOutput::Stream::Stdout,
        "<" + bytes + ">");
    co_return Result<void>{};
  }
  Task<Result<void>> end_input() override {
    [[maybe_unused]] const bool pushed = events_.push(rt::ProgramExit{.code = 7});
    co_return Result<void>{};
  }
  Task<Result<void>> resize(rt::WindowSize size) override {
    say(rt::ProgramOutput::Stream::Stdout, fmt::format("{}x{}", size.columns, size.rows));
    co_return Result<void>{};
  }

 private:
  void say(rt::ProgramOutput::Stream stream, std::string bytes) {
    [[maybe_unused]] const bool pushed =
        events_.push(rt::ProgramOutput{.stream = stream, .bytes = std::move(bytes)});
  }
  rt::Channel<Event> events_;
};

// Serves a program on every path.
class ProgramHandler final : public HttpHandler {
 public:
  ProgramHandler(rt::Loop& loop, Rng& rng) : ended(loop), loop_(loop), rng_(rng) {}
  Task<void> handle(const HttpRequest& request, Responder& responder) override {
    const auto protocol = choose_channels(request, "no SPDY");
    if (!protocol) {
      [[maybe_unused]] const auto sent =
          co_await responder.respond({.status = 400, .body = protocol.error().message});
      co_return;
    }
    EchoProgram program(loop_);
    {
      const auto socket = co_await accept_web_socket(loop_, rng_, request, responder, *protocol);
      if (!socket) co_return;
      ChannelWords words{
          .ended = [](const rt::ProgramExit& exit) { return fmt::format("exit {}", exit.code); },
          .failed = [](const Error& error) { return "failed: " + error.message; },
          .window_size = [](std::string_view text) -> std::optional<rt::WindowSize> {
            if (text != "80,25") return std::nullopt;
            return rt::WindowSize{.columns = 80, .rows = 25};
          }};
      co_await serve_program(loop_, **socket, program, std::move(words));
    }
    ended.set();
  }
  rt::Event ended;

 private:
  rt::Loop& loop_;
  Rng& rng_;
};

class WebSocketTest : public ::testing::Test {
 protected:
  WebSocketTest() { server_.start(); }
  ~WebSocketTest() override { loop_.run(server_.close()); }

  Result<WebSocketAnswer> open(std::vector<std::string> protocols) {
    return loop_.run(rt::with_timeout(
        loop_, 10s, open_web_socket(loop_, rng_, *connector_, {}, std::move(protocols))));
  }
  std::unique_ptr<WebSocket> session(std::string_view protocol = kChannelsV5) {
    return std::move(open({std::string(protocol)}).value().socket);
  }
  void say(WebSocket& socket, Channel channel, std::string_view bytes) {
    const auto message = on_channel(channel, bytes);
    ASSERT_TRUE(loop_.run(socket.send(Kind::Binary, message)));
  }
  // Channel and text; "closed" at the end.
  std::string hear(WebSocket& socket) {
    const auto message = loop_.run(rt::with_timeout(loop_, 10s, socket.next()));
    if (!message) return "broken: " + message.error().message;
    if (!*message) return "closed " + socket.peer_reason();
    return fmt::format("{} {}", static_cast<int>((*message)->bytes.front()),
                       (*message)->bytes.substr(1));
  }
  bool handler_ended() {
    return loop_.run(rt::with_timeout(loop_, 10s, handler_.ended.wait())).has_value();
  }

  rt::RealLoop loop_;
  SeededRng rng_{1};
  testing::ScratchFolder folder_;
  ProgramHandler handler_{loop_, rng_};
  HttpServer server_{loop_, listen_unix(loop_, folder_.path("s")).value(), handler_};
  std::unique_ptr<Connector> connector_ = unix_connector(loop_, folder_.path("s"));
};

TEST_F(WebSocketTest, CarriesAProgramFromItsInputToItsEnd) {
  const auto socket = session();
  EXPECT_EQ(socket->subprotocol(), kChannelsV5);
  say(*socket, Channel::Stdin, "hello");
  EXPECT_EQ(hear(*socket), "1 <hello>");
  say(*socket, Channel::Stdin, "e:hello");
  EXPECT_EQ(hear(*socket), "2 <e:hello>");
  say(*socket, Channel::Resize, "80,25");
  EXPECT_EQ(hear(*socket), "1 80x25");
  say(*socket, Channel::Resize, "nonsense");
  say(*socket, Channel::End, std::string(1, '\0'));
  EXPECT_EQ(hear(*socket), "3 exit 7");
  EXPECT_EQ(hear(*socket), "closed 1000");
}

TEST_F(WebSocketTest, TheEndOfInputIsAWordOfTheFifthVersionOnly) {
  const auto socket = session(kChannelsV4);
  say(*socket, Channel::End, std::string(1, '\0'));
  say(*socket, Channel::Stdin, "still here");
  EXPECT_EQ(hear(*socket), "1 <still here>");
}

TEST_F(WebSocketTest, SaysWhenItIsNotKnownHowTheProgramEnded) {
  const auto socket = session();
  say(*socket, Channel::Stdin, "fail");
  EXPECT_EQ(hear(*socket), "3 failed: lost");
}

TEST_F(WebSocketTest, TheProgramGoesWithItsClient) {
  auto socket = session();
  say(*socket, Channel::Stdin, "x");
  EXPECT_EQ(hear(*socket), "1 <x>");
  socket.reset();
  EXPECT_TRUE(handler_ended());
}

TEST_F(WebSocketTest, AProperEndOfTheClientEndsItToo) {
  const auto socket = session();
  loop_.run(socket->close(WebSocketClose::GoingAway, "enough"));
  EXPECT_TRUE(handler_ended());
}

TEST_F(WebSocketTest, AnswersPingsWhileItReads) {
  const auto socket = session();
  ASSERT_TRUE(loop_.run(socket->send(Kind::Ping, "are you there")));
  say(*socket, Channel::Stdin, "yes");
  EXPECT_EQ(hear(*socket), "1 <yes>");
}

TEST_F(WebSocketTest, ARefusalIsAnAnswer) {
  const auto answer = open({"other"}).value();
  EXPECT_EQ(answer.socket, nullptr);
  EXPECT_EQ(answer.refusal.status, 400);
  EXPECT_EQ(answer.refusal.body,
            "exec needs one of the WebSocket subprotocols v5.channel.k8s.io and v4.channel.k8s.io");
}

TEST_F(WebSocketTest, AMessageThatIsTooLargeEndsItWithTheReason) {
  const auto socket = session();
  [[maybe_unused]] const auto sent =
      loop_.run(socket->send(Kind::Binary, std::string((std::size_t{1} << 20U) + 1, 'x')));
  EXPECT_EQ(hear(*socket), "closed 1009 a WebSocket message of more than 1048576 bytes");
  EXPECT_TRUE(handler_ended());
}

}  // namespace
}  // namespace muster::net
