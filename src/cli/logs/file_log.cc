#include "cli/logs/file_log.h"

#include <algorithm>
#include <utility>

#include "node/logs/cri_log.h"
#include "node/runtime/log_places.h"

namespace muster::cli {
namespace {

// A record has at most 64 KiB of text; what is longer is none.
constexpr std::size_t kLongestRecord = std::size_t{128} << 10U;

}  // namespace

FileLog::FileLog(std::string pod_directory, std::string container, int attempt, LogWindow window)
    : directory_(std::move(pod_directory)),
      container_(std::move(container)),
      attempt_(attempt),
      last_attempt_(attempt),
      window_(window),
      file_(node::log_path(directory_, container_, attempt)) {}

void FileLog::see(const ContainerProgress& progress) {
  if (progress.started) last_attempt_ = std::max(last_attempt_, progress.attempt);
  over_ = over_ || progress.over;
}

Task<Result<std::vector<LogPiece>>> FileLog::present() {
  co_return read();
}

Result<std::vector<LogPiece>> FileLog::read() {
  if (window_.tail && !sought_) TRY(file_.seek_tail(static_cast<std::size_t>(*window_.tail)));
  sought_ = true;
  std::vector<LogPiece> pieces;
  while (pieces.empty()) {
    // Looked at before the read: a run that has a successor writes nothing any more.
    const bool has_successor = attempt_ < last_attempt_;
    const std::string bytes = TRY(file_.read(chunk_));
    take(bytes, pieces);
    if (!bytes.empty()) continue;
    if (!has_successor) break;
    begin_next_run(pieces);
  }
  return pieces;
}

// A run that was killed in the midst of a line does not lend it to the next one.
void FileLog::begin_next_run(std::vector<LogPiece>& pieces) {
  file_ = node::LogFile(node::log_path(directory_, container_, ++attempt_));
  rest_.clear();
  skipping_ = false;
  for (const bool error : {false, true}) {
    const std::string begun = std::exchange(begun_[error ? 1 : 0], "");
    if (begun.empty()) continue;
    pieces.push_back(
        {.at = parse_time(begun).value_or(Time{}), .time = begun, .error = error, .bytes = "\n"});
  }
}

void FileLog::take(std::string_view bytes, std::vector<LogPiece>& pieces) {
  while (!bytes.empty()) {
    const auto newline = bytes.find('\n');
    if (newline == std::string_view::npos) {
      if (!skipping_) rest_ += bytes;
      if (rest_.size() > kLongestRecord) {
        rest_.clear();
        skipping_ = true;
      }
      return;
    }
    if (skipping_) {
      skipping_ = false;
    } else if (rest_.empty()) {
      take_line(bytes.substr(0, newline), pieces);
    } else {
      rest_ += bytes.substr(0, newline);
      take_line(rest_, pieces);
      rest_.clear();
    }
    bytes.remove_prefix(newline + 1);
  }
}

void FileLog::take_line(std::string_view line, std::vector<LogPiece>& pieces) {
  const auto record = node::parse_cri_line(line);
  if (!record) return;  // torn by a crash of the machine
  std::string& begun = begun_[record->stream == node::LogStreamKind::Stderr ? 1 : 0];
  if (begun.empty()) begun = record->time;
  LogPiece piece{.at = parse_time(begun).value_or(Time{}),
                 .time = begun,
                 .error = record->stream == node::LogStreamKind::Stderr,
                 .bytes = std::string(record->text)};
  if (!record->partial) {
    piece.bytes += '\n';
    begun.clear();
  }
  if (window_.since) {
    // A bar without a newline is one line for hours: the part of it that is new counts.
    const auto written = parse_time(record->time);
    if (!written || *written < *window_.since) return;
  }
  pieces.push_back(std::move(piece));
}

}  // namespace muster::cli
