#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster::trainer {

// Cuts the bytes of a connection into lines. A peer that sends a longer line than allowed is not
// worth listening to: is_overrun() turns true and stays so.
class LineReader {
 public:
  explicit LineReader(std::size_t longest) : longest_(longest) {}

  // Call next() until it has nothing more before adding again: that keeps the buffer within bounds.
  void add(std::string_view bytes) {
    if (!is_overrun_) {
      buffer_.append(bytes);
    }
  }

  // The next whole line, without its end.
  [[nodiscard]] std::optional<std::string> next() {
    const std::size_t end = buffer_.find('\n');
    if (end == std::string::npos || end > longest_) {
      is_overrun_ = is_overrun_ || buffer_.size() > longest_;
      return std::nullopt;
    }
    std::string line = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    return line;
  }

  [[nodiscard]] bool is_overrun() const { return is_overrun_; }

 private:
  std::size_t longest_;
  std::string buffer_;
  bool is_overrun_ = false;
};

}  // namespace muster::trainer
