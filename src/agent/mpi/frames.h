#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

// What two agents of one job say to each other, after TLS has shown that they are. A frame is
//   version (1 byte), type (1 byte), zero (2 bytes), size of the payload (4 bytes, big-endian),
//   payload
// Bytes in, bytes out; sockets are elsewhere.
namespace muster::agent::mpi {

inline constexpr std::uint8_t kFrameVersion = 1;
inline constexpr std::size_t kFrameHeaderBytes = 8;
// A command line is one argument of `sh -c`, and Linux takes at most 128 KiB for one.
inline constexpr std::size_t kMaxPayloadBytes = (std::size_t{128} << 10U) - 1;

enum class FrameType : std::uint8_t {
  Ping = 1,    // client: are you there? The answer is Pong, and the end
  Pong = 2,    //
  Start = 3,   // client: a command line for `sh -c`; once a connection
  Output = 4,  // server: what it writes to stdout
  Error = 5,   // server: … to stderr
  Exit = 6,    // server: its exit code in decimal digits; the last frame
  Rank = 7,    // server: what became of a rank; see rank_report.h
  Noted = 8,   // client: that rank's end was noted; the number that came with it
};

struct Frame {
  FrameType type{};
  std::string payload;
  friend bool operator==(const Frame&, const Frame&) = default;
};

// The payload has at most kMaxPayloadBytes.
std::string encode_frame(FrameType type, std::string_view payload);

// Takes bytes as they come and gives frames. What cannot be a frame is an error, at once and from
// then on; what it holds is never more than the bytes of one frame and of the last feed.
class FrameReader {
 public:
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  // Nothing: more bytes are needed.
  Result<std::optional<Frame>> next();

 private:
  std::string buffer_;
};

// An exit code as it is sent, 0 to 255.
std::optional<int> decode_exit(std::string_view payload);

}  // namespace muster::agent::mpi
