#include "agent/mpi/frames.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/strings.h"

namespace muster::agent::mpi {
namespace {

std::uint8_t byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<std::uint8_t>(bytes[at]);
}

Result<std::size_t> payload_size(std::string_view header) {
  if (byte_at(header, 0) != kFrameVersion) {
    return fail(ErrorCode::Parse, fmt::format("the peer speaks version {} of this protocol, not {}",
                                              byte_at(header, 0), kFrameVersion));
  }
  const auto type = byte_at(header, 1);
  if (type < static_cast<std::uint8_t>(FrameType::Ping) ||
      type > static_cast<std::uint8_t>(FrameType::Noted) || header[2] != 0 || header[3] != 0) {
    return fail(ErrorCode::Parse,
                fmt::format("no frame begins with {}, {}, {}, {}", byte_at(header, 0), type,
                            byte_at(header, 2), byte_at(header, 3)));
  }
  std::size_t size = 0;
  for (std::size_t at = 4; at < kFrameHeaderBytes; ++at) size = size << 8U | byte_at(header, at);
  if (size > kMaxPayloadBytes) {
    return fail(ErrorCode::TooLarge,
                fmt::format("a frame of {} bytes; at most {}", size, kMaxPayloadBytes));
  }
  return size;
}

}  // namespace

std::string encode_frame(FrameType type, std::string_view payload) {
  CHECK(payload.size() <= kMaxPayloadBytes);
  std::string bytes;
  bytes.reserve(kFrameHeaderBytes + payload.size());
  bytes.push_back(static_cast<char>(kFrameVersion));
  bytes.push_back(static_cast<char>(type));
  bytes.append(2, '\0');
  for (unsigned shift = 32; shift > 0;) {
    shift -= 8;
    bytes.push_back(static_cast<char>(payload.size() >> shift & 0xFFU));
  }
  bytes.append(payload);
  return bytes;
}

Result<std::optional<Frame>> FrameReader::next() {
  if (buffer_.size() < kFrameHeaderBytes) return std::nullopt;
  const auto size = TRY(payload_size(buffer_));
  if (buffer_.size() < kFrameHeaderBytes + size) return std::nullopt;
  Frame frame{.type = static_cast<FrameType>(byte_at(buffer_, 1)),
              .payload = buffer_.substr(kFrameHeaderBytes, size)};
  buffer_.erase(0, kFrameHeaderBytes + size);
  return frame;
}

std::optional<int> decode_exit(std::string_view payload) {
  const auto code = parse_int(payload);
  if (!code || *code < 0 || *code > 255) return std::nullopt;
  return static_cast<int>(*code);
}

}  // namespace muster::agent::mpi
