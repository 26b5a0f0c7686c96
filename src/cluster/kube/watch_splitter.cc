#include "cluster/kube/watch_splitter.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::cluster::kube {

Result<void> WatchSplitter::feed(std::string_view bytes) {
  buffer_.erase(0, taken_);
  scanned_ -= taken_;
  taken_ = 0;
  buffer_.append(bytes);
  const auto newline = buffer_.find('\n', scanned_);
  const std::size_t line = newline == std::string::npos ? buffer_.size() : newline;
  if (line > limit_) {
    return fail(ErrorCode::TooLarge, fmt::format("a watch event of more than {} bytes", limit_));
  }
  return {};
}

std::optional<std::string_view> WatchSplitter::next() {
  while (true) {
    const auto newline = buffer_.find('\n', scanned_);
    if (newline == std::string::npos) {
      scanned_ = buffer_.size();
      return std::nullopt;
    }
    const auto line = std::string_view(buffer_).substr(taken_, newline - taken_);
    taken_ = scanned_ = newline + 1;
    if (!trim(line).empty()) return line;
  }
}

}  // namespace muster::cluster::kube
