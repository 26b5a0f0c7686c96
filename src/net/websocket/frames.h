#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

// WebSocket frames (RFC 6455) without sockets: a reader that is fed with bytes in any pieces, and a
// writer that appends to a string. No extensions.
namespace muster::net {

// Clients mask what they send, servers do not; a reader refuses the other way round.
enum class WebSocketSide { Client, Server };

struct WebSocketMessage {
  enum class Kind { Text, Binary, Ping, Pong, Close };
  Kind kind = Kind::Binary;
  std::string bytes;  // of Close: the code in two bytes and the reason, or nothing
};

// The codes of a Close that we send.
enum class WebSocketClose : std::uint16_t {
  Normal = 1000,
  GoingAway = 1001,
  ProtocolError = 1002,
  BadData = 1007,
  TooLarge = 1009,
};

// Puts messages together. Errors: Parse for what is not the protocol, TooLarge; after one it is of
// no use. Never holds more than one message of the limit and one control frame.
class WebSocketReader {
 public:
  WebSocketReader(WebSocketSide peer, std::size_t max_message_bytes)
      : peer_(peer), max_message_bytes_(max_message_bytes) {}

  // Takes a prefix of the bytes: all of it, unless a message is complete, which is to be taken
  // before more is fed.
  Result<std::size_t> feed(std::string_view bytes);
  // The message that is complete; nothing when there is none.
  std::optional<WebSocketMessage> take();
  // Whether a frame or a message has begun and not ended.
  [[nodiscard]] bool in_the_middle() const {
    return header_size_ > 0 || reading_payload_ || fragmented_;
  }

 private:
  enum class Opcode : std::uint8_t {
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
  };
  [[nodiscard]] bool is_control() const { return opcode_ >= Opcode::Close; }
  [[nodiscard]] std::size_t header_length() const;
  Result<void> on_header();
  Result<void> check_first_bytes() const;
  Result<std::uint64_t> payload_length() const;
  Result<void> on_frame_end();
  Result<void> finish(WebSocketMessage::Kind kind, std::string bytes);

  WebSocketSide peer_;
  std::size_t max_message_bytes_;
  std::array<unsigned char, 14> header_{};
  std::size_t header_size_ = 0;
  bool reading_payload_ = false;
  bool last_ = false;  // the frame ends its message
  Opcode opcode_ = Opcode::Continuation;
  std::array<char, 4> mask_{};
  std::size_t mask_at_ = 0;
  std::uint64_t left_ = 0;  // of the frame's payload
  bool fragmented_ = false;
  WebSocketMessage::Kind message_kind_ = WebSocketMessage::Kind::Binary;
  std::string message_;
  std::string control_;
  std::optional<WebSocketMessage> complete_;
};

// One message in one frame; with a mask from a client, without from a server. A control message has
// at most 125 bytes.
void append_message(std::string& out, WebSocketMessage::Kind kind, std::string_view bytes,
                    std::optional<std::uint32_t> mask);

// The body of a Close.
std::string close_body(WebSocketClose code, std::string_view reason);
// What a Close said: "1000", "1011 the reason"; "" when it said nothing.
std::string describe_close(std::string_view body);

}  // namespace muster::net
