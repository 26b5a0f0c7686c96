#include <algorithm>
#include <charconv>

#include "net/http1/protocol.h"

namespace muster::net {

namespace {
// 16 hexadecimal digits would be 2^64; what is over any limit of ours is refused long before.
constexpr std::size_t kMaxChunkLine = 256;  // size and extensions, which nobody uses
constexpr std::size_t kMaxChunkDigits = 8;  // 4 GiB a chunk
constexpr std::size_t kMaxTrailerBytes = 8192;
}  // namespace

void BodyDecoder::start_empty() {
  state_ = State::Done;
}

void BodyDecoder::start_length(std::uint64_t length) {
  left_ = length;
  state_ = length == 0 ? State::Done : State::Length;
}

void BodyDecoder::start_chunked() {
  line_.clear();
  trailer_bytes_ = 0;
  state_ = State::ChunkSize;
}

void BodyDecoder::start_until_close() {
  state_ = State::UntilClose;
}

// Moves bytes up to a line's end into line_, without its CRLF. False: the line goes on.
Result<bool> BodyDecoder::take_line(std::string_view& bytes) {
  const auto end = bytes.find('\n');
  const auto part = bytes.substr(0, end == std::string_view::npos ? bytes.size() : end + 1);
  const std::size_t limit = state_ == State::Trailer ? kMaxTrailerBytes : kMaxChunkLine;
  if (line_.size() + part.size() > limit)
    return fail(ErrorCode::BadRequest, "a chunk line is too long");
  line_.append(part);
  bytes.remove_prefix(part.size());
  if (end == std::string_view::npos) return false;
  if (!line_.ends_with("\r\n"))
    return fail(ErrorCode::BadRequest, "a line of the chunked body ends without CR LF");
  line_.resize(line_.size() - 2);
  return true;
}

Result<void> BodyDecoder::start_chunk() {
  const std::string_view line = line_;
  const auto digits = line.substr(0, line.find(';'));
  const auto extension = line.substr(digits.size());
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
  if (digits.empty() || digits.size() > kMaxChunkDigits || error != std::errc{} ||
      end != digits.data() + digits.size()) {
    return fail(ErrorCode::BadRequest, "a chunk size is not a plain hexadecimal number");
  }
  if (!is_header_value(extension)) {
    return fail(ErrorCode::BadRequest, "a chunk extension has control characters");
  }
  left_ = size;
  state_ = size == 0 ? State::Trailer : State::ChunkData;
  return {};
}

Result<std::size_t> BodyDecoder::feed(std::string_view bytes, std::string& out) {
  const std::size_t offered = bytes.size();
  while (!bytes.empty() && state_ != State::Done) {
    switch (state_) {
      case State::Length:
      case State::ChunkData: {
        const auto part =
            bytes.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(left_, bytes.size())));
        out.append(part);
        bytes.remove_prefix(part.size());
        left_ -= part.size();
        if (left_ == 0) state_ = state_ == State::Length ? State::Done : State::ChunkEnd;
        break;
      }
      case State::UntilClose:
        out.append(bytes);
        bytes = {};
        break;
      case State::ChunkSize:
      case State::ChunkEnd:
      case State::Trailer: {
        if (!TRY(take_line(bytes))) break;
        if (state_ == State::ChunkSize) {
          TRY(start_chunk());
        } else if (state_ == State::ChunkEnd) {
          if (!line_.empty()) return fail(ErrorCode::BadRequest, "a chunk is longer than its size");
          state_ = State::ChunkSize;
        } else if (line_.empty()) {
          state_ = State::Done;
        } else {
          // Trailer fields are read and dropped: nothing may be decided from them.
          trailer_bytes_ += line_.size();
          if (trailer_bytes_ > kMaxTrailerBytes) {
            return fail(ErrorCode::TooLarge, "the trailer of the chunked body is too long");
          }
        }
        line_.clear();
        break;
      }
      case State::Done:
        break;
    }
  }
  return offered - bytes.size();
}

}  // namespace muster::net
