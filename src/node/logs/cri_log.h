#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

// The log files of containers, one line for each write:
//   2026-11-15T03:04:05.000000006Z stdout F text
// P in place of F: the text goes on in the next line of the same stream.
namespace muster::node {

enum class LogStreamKind { Stdout, Stderr };

// One line of a file; the views live as long as the bytes that were parsed.
struct CriLine {
  std::string_view time;
  LogStreamKind stream = LogStreamKind::Stdout;
  bool partial = false;
  std::string_view text;
};

// The line without its newline; nothing when it is not one (a torn write after a power cut).
std::optional<CriLine> parse_cri_line(std::string_view line);

// What a reader asked for; the names are the query's own.
struct LogFilter {
  bool timestamps = false;
  std::optional<Time> since;
  std::optional<std::size_t> limit_bytes;
};

// Turns file bytes into what a reader sees. Feed it in any chunks: an unfinished record waits for
// its rest, and so does a line that was written in pieces, so that the two streams do not tear each
// other's lines. One that grows beyond 64 KiB is passed on as it comes; if the other stream writes
// a line in the midst of it, it is broken there. Holds at most one line (64 KiB; what is longer is
// cut there).
class CriLogDecoder {
 public:
  explicit CriLogDecoder(LogFilter filter) : filter_(filter) {}

  // Appends readable text; false once limit_bytes is reached.
  bool feed(std::string_view bytes, std::string& out);
  // Nothing more will be fed: lines that never ended are given as they are.
  void finish(std::string& out);

 private:
  // A line of one stream that is not over yet.
  struct Open {
    std::string time;  // of its first piece
    std::string text;
    bool passed_on = false;  // its beginning, since it is long
    [[nodiscard]] bool exists() const { return !time.empty(); }
  };
  bool emit(const CriLine& line, std::string& out);
  bool pass_on(LogStreamKind stream, std::string_view end, std::string& out);
  bool append(std::string_view text, std::string& out);

  LogFilter filter_;
  std::string rest_;
  bool skipping_ = false;  // an overlong line, until its newline
  Open open_[2];
  std::size_t written_ = 0;
};

// Where the last `lines` whole log lines begin, looking at `bytes`, a file or its end. Partial
// lines count with the full line that ends them. 0 when there are not more.
std::size_t tail_offset(std::string_view bytes, std::size_t lines);

// How many whole log lines a file has; an unfinished one at its end is one too.
std::size_t count_lines(std::string_view bytes);

}  // namespace muster::node
