#include "cli/logs/stamped_text.h"

#include <algorithm>
#include <utility>

namespace muster::cli {
namespace {

// 2026-11-15T03:04:05.000000006+01:00; what is longer is no time.
constexpr std::size_t kLongestTime = 40;

}  // namespace

std::optional<Time> StampedText::resume_from() const {
  if (!last_) return std::nullopt;
  return std::chrono::floor<std::chrono::seconds>(*last_);  // an API counts in whole seconds
}

void StampedText::begin_again() {
  where_ = Where::InTime;
  stamp_.clear();
  repeating_ = last_.has_value();
  lines_to_skip_ = lines_of_last_;
  bytes_to_skip_ = bytes_of_line_;
}

void StampedText::begin_next_run() {
  owes_end_ = owes_end_ || bytes_of_line_ > 0;
  bytes_of_line_ = 0;
  lines_of_last_ = 0;
}

void StampedText::feed(std::string_view bytes, std::vector<LogPiece>& pieces) {
  while (!bytes.empty()) {
    if (where_ == Where::InTime) {
      bytes = take_time(bytes, pieces);
      continue;
    }
    const auto newline = bytes.find('\n');
    const bool whole = newline != std::string_view::npos;
    const auto part = bytes.substr(0, whole ? newline + 1 : bytes.size());
    bytes.remove_prefix(part.size());
    if (where_ == Where::InLine) give(part, pieces);
    if (whole) end_line();
  }
}

// The rest of the bytes, once it is known whose line they are.
std::string_view StampedText::take_time(std::string_view bytes, std::vector<LogPiece>& pieces) {
  const auto end = bytes.find_first_of(" \n");
  const auto part = bytes.substr(0, end);
  stamp_ += part;
  if (end == std::string_view::npos && stamp_.size() <= kLongestTime) return {};
  const bool may_be_time = stamp_.size() <= kLongestTime;
  if (const auto at = parse_time(stamp_); may_be_time && at) {
    begin_line(*at);
    // A newline right after the time is an empty line.
    return bytes.substr(bytes[end] == ' ' ? end + 1 : end);
  }
  begin_line(std::nullopt);
  const std::string text = std::exchange(stamp_, "");
  if (where_ == Where::InLine) give(text, pieces);
  return bytes.substr(part.size());
}

void StampedText::begin_line(std::optional<Time> at) {
  line_at_ = at.value_or(last_.value_or(Time{}));
  position_ = 0;
  where_ = Where::InLine;
  if (repeating_) {
    const bool known = last_ && (line_at_ < *last_ || (line_at_ == *last_ && lines_to_skip_ > 0));
    if (known) {
      where_ = Where::InSkippedLine;
      return;
    }
    repeating_ = false;
    if (line_at_ == *last_) return;  // the one that was cut, or the next of that time
    bytes_to_skip_ = 0;
  }
  if (!last_ || line_at_ > *last_) {
    last_ = line_at_;
    lines_of_last_ = 0;
  }
  bytes_of_line_ = 0;
}

void StampedText::give(std::string_view bytes, std::vector<LogPiece>& pieces) {
  const bool whole = bytes.ends_with('\n');
  position_ += bytes.size();
  bytes_of_line_ = std::max(bytes_of_line_, position_);
  const auto skipped = std::min(bytes_to_skip_, bytes.size());
  bytes_to_skip_ = whole ? 0 : bytes_to_skip_ - skipped;
  bytes.remove_prefix(skipped);
  if (bytes.empty()) return;
  if (std::exchange(owes_end_, false))
    pieces.push_back({.at = line_at_, .time = stamp_, .bytes = "\n"});
  pieces.push_back({.at = line_at_, .time = stamp_, .bytes = std::string(bytes)});
}

void StampedText::end_line() {
  if (where_ == Where::InSkippedLine) {
    if (line_at_ == *last_) --lines_to_skip_;
  } else {
    // One that is older than the last stays behind it when all is read again.
    if (last_ && line_at_ == *last_) ++lines_of_last_;
    bytes_of_line_ = 0;
  }
  where_ = Where::InTime;
  stamp_.clear();
}

}  // namespace muster::cli
