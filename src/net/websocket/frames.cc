#include "net/websocket/frames.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "base/check.h"
#include "base/strings.h"

namespace muster::net {

namespace {

constexpr unsigned kLastFrame = 0x80;
constexpr unsigned kReserved = 0x70;
constexpr unsigned kOpcode = 0x0f;
constexpr unsigned kMasked = 0x80;
constexpr unsigned kLength = 0x7f;
constexpr std::size_t kMaxControlBytes = 125;
constexpr std::size_t kLength16 = 126;
constexpr std::size_t kLength64 = 127;

// Those that may be sent (RFC 6455 §7.4): 1004 to 1006 and 1015 never travel.
bool is_close_code(unsigned code) {
  const bool standard = code >= 1000 && code <= 1014 && (code < 1004 || code > 1006);
  return standard || (code >= 3000 && code <= 4999);
}

unsigned byte_at(std::string_view bytes, std::size_t index) {
  return static_cast<unsigned char>(bytes[index]);
}

Result<void> check_close(std::string_view body) {
  if (body.empty()) return {};
  if (body.size() == 1) return fail(ErrorCode::Parse, "a WebSocket close with half a code");
  const unsigned code = byte_at(body, 0) << 8U | byte_at(body, 1);
  if (!is_close_code(code))
    return fail(ErrorCode::Parse, fmt::format("a WebSocket close with code {}", code));
  if (!is_utf8(body.substr(2)))
    return fail(ErrorCode::Parse, "a WebSocket close whose reason is not UTF-8");
  return {};
}

unsigned opcode_of(WebSocketMessage::Kind kind) {
  switch (kind) {
    case WebSocketMessage::Kind::Text:
      return 1;
    case WebSocketMessage::Kind::Binary:
      return 2;
    case WebSocketMessage::Kind::Close:
      return 8;
    case WebSocketMessage::Kind::Ping:
      return 9;
    case WebSocketMessage::Kind::Pong:
      return 10;
  }
  return 2;
}

}  // namespace

std::size_t WebSocketReader::header_length() const {
  if (header_size_ < 2) return 2;
  const unsigned length = header_[1] & kLength;
  std::size_t size = 2;
  if (length == kLength16) size += 2;
  if (length == kLength64) size += 8;
  return (header_[1] & kMasked) != 0 ? size + mask_.size() : size;
}

Result<std::size_t> WebSocketReader::feed(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && !complete_) {
    if (!reading_payload_) {
      header_[header_size_++] = static_cast<unsigned char>(bytes[taken++]);
      if (header_size_ == 2) TRY(check_first_bytes());
      if (header_size_ == header_length()) TRY(on_header());
      continue;
    }
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size() - taken));
    std::string& into = is_control() ? control_ : message_;
    const std::size_t begin = into.size();
    into.append(bytes.substr(taken, count));
    for (std::size_t i = begin; i < into.size(); ++i) into[i] ^= mask_[mask_at_++ % 4];
    taken += count;
    left_ -= count;
    if (left_ == 0) TRY(on_frame_end());
  }
  return taken;
}

std::optional<WebSocketMessage> WebSocketReader::take() {
  return std::exchange(complete_, std::nullopt);
}

Result<void> WebSocketReader::check_first_bytes() const {
  const unsigned opcode = header_[0] & kOpcode;
  const bool last = (header_[0] & kLastFrame) != 0;
  if ((header_[0] & kReserved) != 0)
    return fail(ErrorCode::Parse, "a WebSocket frame with a bit of an extension");
  if ((opcode > 2 && opcode < 8) || opcode > 10)
    return fail(ErrorCode::Parse, fmt::format("a WebSocket frame of unknown kind {}", opcode));
  if (((header_[1] & kMasked) != 0) != (peer_ == WebSocketSide::Client)) {
    return fail(ErrorCode::Parse, peer_ == WebSocketSide::Client
                                      ? "a WebSocket frame of a client without a mask"
                                      : "a WebSocket frame of a server with a mask");
  }
  if (opcode >= 8 && (!last || (header_[1] & kLength) > kMaxControlBytes))
    return fail(ErrorCode::Parse, "a WebSocket control frame in pieces or too long");
  if (opcode == 0 && !fragmented_)
    return fail(ErrorCode::Parse, "a WebSocket frame that continues nothing");
  if (opcode > 0 && opcode < 8 && fragmented_)
    return fail(ErrorCode::Parse, "a WebSocket message within another one");
  return {};
}

Result<std::uint64_t> WebSocketReader::payload_length() const {
  const unsigned length = header_[1] & kLength;
  if (length < kLength16) return length;
  const std::size_t size = length == kLength16 ? 2 : 8;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8U | header_[2 + i];
  const std::uint64_t least = size == 2 ? kLength16 : std::uint64_t{1} << 16U;
  if (value < least) return fail(ErrorCode::Parse, "a WebSocket length with needless bytes");
  return value;
}

Result<void> WebSocketReader::on_header() {
  left_ = TRY(payload_length());
  opcode_ = static_cast<Opcode>(header_[0] & kOpcode);
  last_ = (header_[0] & kLastFrame) != 0;
  if (!is_control() && left_ > max_message_bytes_ - message_.size()) {
    return fail(ErrorCode::TooLarge,
                fmt::format("a WebSocket message of more than {} bytes", max_message_bytes_));
  }
  mask_ = {};
  mask_at_ = 0;
  if ((header_[1] & kMasked) != 0)
    std::memcpy(mask_.data(), header_.data() + header_size_ - mask_.size(), mask_.size());
  if (opcode_ == Opcode::Text) message_kind_ = WebSocketMessage::Kind::Text;
  if (opcode_ == Opcode::Binary) message_kind_ = WebSocketMessage::Kind::Binary;
  header_size_ = 0;
  reading_payload_ = true;
  return left_ == 0 ? on_frame_end() : Result<void>{};
}

Result<void> WebSocketReader::on_frame_end() {
  reading_payload_ = false;
  switch (opcode_) {
    case Opcode::Close:
      TRY(check_close(control_));
      return finish(WebSocketMessage::Kind::Close, std::exchange(control_, {}));
    case Opcode::Ping:
      return finish(WebSocketMessage::Kind::Ping, std::exchange(control_, {}));
    case Opcode::Pong:
      return finish(WebSocketMessage::Kind::Pong, std::exchange(control_, {}));
    case Opcode::Continuation:
    case Opcode::Text:
    case Opcode::Binary:
      fragmented_ = !last_;
      if (!last_) return {};
      return finish(message_kind_, std::exchange(message_, {}));
  }
  return {};
}

Result<void> WebSocketReader::finish(WebSocketMessage::Kind kind, std::string bytes) {
  if (kind == WebSocketMessage::Kind::Text && !is_utf8(bytes))
    return fail(ErrorCode::Parse, "a WebSocket text that is not UTF-8");
  complete_ = WebSocketMessage{.kind = kind, .bytes = std::move(bytes)};
  return {};
}

void append_message(std::string& out, WebSocketMessage::Kind kind, std::string_view bytes,
                    std::optional<std::uint32_t> mask) {
  const unsigned opcode = opcode_of(kind);
  CHECK(opcode < 8 || bytes.size() <= kMaxControlBytes);
  const unsigned masked = mask ? kMasked : 0;
  out.push_back(static_cast<char>(kLastFrame | opcode));
  const auto append_length = [&](std::size_t size) {
    for (std::size_t shift = size * 8; shift > 0; shift -= 8)
      out.push_back(static_cast<char>(bytes.size() >> (shift - 8) & 0xffU));
  };
  if (bytes.size() < kLength16) {
    out.push_back(static_cast<char>(masked | bytes.size()));
  } else if (bytes.size() <= 0xffff) {
    out.push_back(static_cast<char>(masked | kLength16));
    append_length(2);
  } else {
    out.push_back(static_cast<char>(masked | kLength64));
    append_length(8);
  }
  if (!mask) {
    out.append(bytes);
    return;
  }
  const auto key = std::bit_cast<std::array<char, 4>>(*mask);
  out.append(key.data(), key.size());
  const std::size_t begin = out.size();
  out.append(bytes);
  for (std::size_t i = begin; i < out.size(); ++i) out[i] ^= key[(i - begin) % key.size()];
}

std::string close_body(WebSocketClose code, std::string_view reason) {
  const auto number = static_cast<unsigned>(code);
  std::string body{static_cast<char>(number >> 8U), static_cast<char>(number & 0xffU)};
  // Cut at a character, with room for the code.
  while (reason.size() > kMaxControlBytes - 2 || !is_utf8(reason)) reason.remove_suffix(1);
  return body.append(reason);
}

std::string describe_close(std::string_view body) {
  if (body.size() < 2) return {};
  const unsigned code = byte_at(body, 0) << 8U | byte_at(body, 1);
  if (body.size() == 2) return fmt::format("{}", code);
  return fmt::format("{} {}", code, printable(body.substr(2)));
}

}  // namespace muster::net
