#include "net/websocket/channels.h"

#include <stop_token>

#include <fmt/format.h>

#include "net/websocket/handshake.h"
#include "rt/scope.h"

namespace muster::net {

namespace {

using Kind = WebSocketMessage::Kind;

Channel channel_for(rt::ProgramOutput::Stream stream) {
  return stream == rt::ProgramOutput::Stream::Stdout ? Channel::Stdout : Channel::Stderr;
}

// One session. It ends with whichever side ends first.
class Session {
 public:
  Session(WebSocket& socket, rt::RemoteProgram& program, const ChannelWords& words)
      : socket_(socket), program_(program), words_(words) {}

  Task<void> carry_input() {
    while (true) {
      auto message = co_await socket_.next();
      if (!message || !*message) break;
      if (!co_await take((*message)->bytes)) break;
    }
    gone_.request_stop();
  }

  Task<void> carry_output() {
    while (true) {
      auto event = co_await program_.next();
      if (!event) {
        if (!gone_.stop_requested()) co_await say(Channel::Error, words_.failed(event.error()));
        co_return;
      }
      if (const auto* exit = std::get_if<rt::ProgramExit>(&*event)) {
        co_await say(Channel::Error, words_.ended(*exit));
        co_return;
      }
      const auto& output = std::get<rt::ProgramOutput>(*event);
      if (!co_await say(channel_for(output.stream), output.bytes)) co_return;
    }
  }

  std::stop_source& gone() { return gone_; }

 private:
  Task<Result<void>> say(Channel channel, std::string_view bytes) {
    const std::string message = on_channel(channel, bytes);
    co_return co_await socket_.send(Kind::Binary, message);
  }

  // What is on no channel of ours is passed over, as other servers do.
  Task<Result<void>> take(std::string_view message) {
    if (message.empty()) co_return Result<void>{};
    const auto channel = static_cast<Channel>(static_cast<std::uint8_t>(message.front()));
    const std::string_view bytes = message.substr(1);
    if (channel == Channel::Stdin && !bytes.empty()) {
      co_return co_await program_.write(std::string(bytes));
    }
    if (channel == Channel::Resize) {
      if (const auto size = words_.window_size(bytes)) co_return co_await program_.resize(*size);
    }
    const bool ends_input = channel == Channel::End && socket_.subprotocol() == kChannelsV5 &&
                            bytes.size() == 1 && bytes.front() == static_cast<char>(Channel::Stdin);
    if (ends_input) co_return co_await program_.end_input();
    co_return Result<void>{};
  }

  WebSocket& socket_;
  rt::RemoteProgram& program_;
  const ChannelWords& words_;
  std::stop_source gone_;
};

}  // namespace

std::vector<std::string> channel_subprotocols() {
  return {std::string(kChannelsV5), std::string(kChannelsV4)};
}

Result<std::string> choose_channels(const HttpRequest& request, std::string_view no_spdy) {
  if (!asks_for_upgrade(request)) return fail(ErrorCode::BadRequest, "Upgrade request required");
  if (!asks_for_web_socket(request)) return fail(ErrorCode::BadRequest, std::string(no_spdy));
  auto protocol = choose_subprotocol(request, channel_subprotocols());
  if (!protocol) {
    return fail(ErrorCode::BadRequest, fmt::format("exec needs one of the WebSocket subprotocols "
                                                   "{} and {}",
                                                   kChannelsV5, kChannelsV4));
  }
  TRY(acceptance_of(request, *protocol));
  return std::move(*protocol);
}

std::string on_channel(Channel channel, std::string_view bytes) {
  std::string message(1, static_cast<char>(channel));
  return message.append(bytes);
}

Task<void> serve_program(rt::Loop& loop, WebSocket& socket, rt::RemoteProgram& program,
                         ChannelWords words) {
  Session session(socket, program, words);
  const auto on_stop = [&session] { session.gone().request_stop(); };
  const std::stop_callback linked(co_await rt::current_stop(), on_stop);
  rt::TaskScope scope(loop);
  scope.spawn(session.carry_input());
  auto output = session.carry_output().with_stop(session.gone().get_token());
  co_await std::move(output);
  co_await scope.close();
  co_await socket.close(WebSocketClose::Normal, "");
}

}  // namespace muster::net
