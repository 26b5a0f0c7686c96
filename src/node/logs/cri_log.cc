#include "node/logs/cri_log.h"

#include <algorithm>

namespace muster::node {

namespace {

// Our shim writes at most 64 KiB of text a line, after a head of 40 bytes; twice that bounds what a
// strange file costs.
constexpr std::size_t kMaxLineBytes = std::size_t{128} << 10U;

// Of a line that was written in pieces.
constexpr std::size_t kMostHeldBytes = std::size_t{64} << 10U;

}  // namespace

std::optional<CriLine> parse_cri_line(std::string_view line) {
  const auto first = line.find(' ');
  if (first == std::string_view::npos || first == 0) return std::nullopt;
  CriLine out{.time = line.substr(0, first)};
  auto rest = line.substr(first + 1);
  if (rest.starts_with("stdout ")) {
    out.stream = LogStreamKind::Stdout;
  } else if (rest.starts_with("stderr ")) {
    out.stream = LogStreamKind::Stderr;
  } else {
    return std::nullopt;
  }
  rest.remove_prefix(7);
  const bool tagged = !rest.empty() && (rest.size() == 1 || rest[1] == ' ' || rest[1] == ':');
  if (!tagged || (rest[0] != 'F' && rest[0] != 'P')) return std::nullopt;
  out.partial = rest[0] == 'P';
  const auto space = rest.find(' ');  // tags may follow after a colon
  out.text = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
  return out;
}

bool CriLogDecoder::append(std::string_view text, std::string& out) {
  if (!filter_.limit_bytes) {
    out += text;
    return true;
  }
  const auto take = std::min(text.size(), *filter_.limit_bytes - written_);
  out += text.substr(0, take);
  written_ += take;
  return written_ < *filter_.limit_bytes;
}

bool CriLogDecoder::emit(const CriLine& line, std::string& out) {
  if (filter_.since) {
    const auto time = parse_time(line.time);
    if (!time || *time < *filter_.since) return true;
  }
  Open& open = open_[static_cast<std::size_t>(line.stream)];
  if (!open.exists()) open.time = line.time;
  open.text += line.text;
  if (!line.partial) return pass_on(line.stream, "\n", out);
  return open.text.size() <= kMostHeldBytes || pass_on(line.stream, "", out);
}

// What came of a line; `end` is its newline, where it has one by now.
bool CriLogDecoder::pass_on(LogStreamKind stream, std::string_view end, std::string& out) {
  Open& open = open_[static_cast<std::size_t>(stream)];
  Open& other = open_[1 - static_cast<std::size_t>(stream)];
  if (other.passed_on) {
    other.passed_on = false;
    if (!append("\n", out)) return false;
  }
  if (filter_.timestamps && !open.passed_on) {
    if (!append(open.time, out) || !append(" ", out)) return false;
  }
  if (!append(open.text, out) || !append(end, out)) return false;
  open.text.clear();
  open.passed_on = end.empty();
  if (!end.empty()) open.time.clear();
  return true;
}

void CriLogDecoder::finish(std::string& out) {
  for (const auto stream : {LogStreamKind::Stdout, LogStreamKind::Stderr}) {
    const Open& open = open_[static_cast<std::size_t>(stream)];
    if (!open.text.empty() && !pass_on(stream, "", out)) return;
  }
}

bool CriLogDecoder::feed(std::string_view bytes, std::string& out) {
  if (filter_.limit_bytes && written_ >= *filter_.limit_bytes) return false;
  while (!bytes.empty()) {
    const auto newline = bytes.find('\n');
    const bool whole = newline != std::string_view::npos;
    const auto piece = bytes.substr(0, whole ? newline : bytes.size());
    bytes.remove_prefix(whole ? newline + 1 : bytes.size());
    if (!skipping_) {
      rest_ += piece.substr(0, kMaxLineBytes - std::min(kMaxLineBytes, rest_.size()));
      skipping_ = !whole && rest_.size() >= kMaxLineBytes;
      if (!whole && !skipping_) return true;
      const auto line = parse_cri_line(rest_);
      const bool more = !line || emit(*line, out);
      rest_.clear();
      if (!more) return false;
    }
    if (whole) skipping_ = false;
  }
  return true;
}

std::size_t tail_offset(std::string_view bytes, std::size_t lines) {
  if (lines == 0) return bytes.size();
  std::size_t end = bytes.size();
  if (end > 0 && bytes[end - 1] == '\n') --end;
  std::size_t seen = 0;
  bool first = true;
  while (true) {
    const auto newline = end == 0 ? std::string_view::npos : bytes.rfind('\n', end - 1);
    const auto begin = newline == std::string_view::npos ? 0 : newline + 1;
    const auto line = parse_cri_line(bytes.substr(begin, end - begin));
    // A full line starts the count of a new one; partial lines belong to the full line after them.
    if (first || (line && !line->partial)) ++seen;
    first = false;
    if (seen > lines) return std::min(bytes.size(), end + 1);
    if (begin == 0) return 0;
    end = newline;
  }
}

std::size_t count_lines(std::string_view bytes) {
  std::size_t count = 0;
  bool within = false;
  while (!bytes.empty()) {
    const auto newline = bytes.find('\n');
    const auto line = parse_cri_line(bytes.substr(0, newline));
    if (line) within = line->partial;
    if (line && !line->partial) ++count;
    bytes.remove_prefix(newline == std::string_view::npos ? bytes.size() : newline + 1);
  }
  return count + (within ? 1 : 0);
}

}  // namespace muster::node
