#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/limits.h"

namespace muster::cluster::kube {

// Cuts a stream of newline-delimited JSON into lines. Passive: bytes in by feed(), lines out by
// next(). Holds at most one unfinished line, and no line longer than the limit.
class WatchSplitter {
 public:
  // An object of the largest size that a server stores, with room for escapes and the envelope.
  static constexpr std::size_t kMaxEventBytes = 4 * limits::kMaxObjectBytes;

  explicit WatchSplitter(std::size_t max_event_bytes = kMaxEventBytes) : limit_(max_event_bytes) {}

  // TooLarge when the unfinished line exceeds the limit; the stream is of no use after that.
  Result<void> feed(std::string_view bytes);
  // The next whole line without its newline; blank lines are passed over. Valid until the next call
  // of feed() or next().
  std::optional<std::string_view> next();
  // The stream ended inside a line.
  [[nodiscard]] bool unfinished() const { return taken_ < buffer_.size(); }

 private:
  std::size_t limit_;
  std::string buffer_;
  std::size_t taken_ = 0;    // everything before was handed out
  std::size_t scanned_ = 0;  // no newline between taken_ and here
};

}  // namespace muster::cluster::kube
