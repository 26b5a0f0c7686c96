#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"

namespace muster::node::shim {

// Longer lines are written as pieces.
inline constexpr std::size_t kMaxPieceBytes = std::size_t{64} << 10U;
// For a container whose disk is full.
inline constexpr std::size_t kMostKeptBytes = std::size_t{1} << 20U;

// The log of one container in CRI format: `2026-01-02T03:04:05.000000006Z stdout F text`.
// Byte-exact: the texts of a stream, with a newline after each F, are what the program wrote. A
// line without its newline is held back until that comes, the piece is full or flush() is called: a
// progress bar must be seen while it moves. At half the quota the file becomes PATH.1, in place of
// an older one. What a full disk does not take is kept, up to kMostKeptBytes, and tried again with
// the next output or flush(); what comes beyond is lost, and a line says how much. The program is
// never held up.
class CriWriter {
 public:
  enum class Stream { Stdout, Stderr };

  static Result<CriWriter> create(std::string path, std::uint64_t quota);

  void append(Stream stream, std::string_view bytes, Time now);
  // Something is not in the file yet: call flush() in a while.
  [[nodiscard]] bool holds_back() const {
    return !held_[0].empty() || !held_[1].empty() || !out_.empty() || lost_ > 0;
  }
  // Writes what is held back.
  void flush(Time now);

 private:
  CriWriter(std::string path, std::uint64_t quota) : path_(std::move(path)), quota_(quota) {}
  Result<void> open();
  void piece(Stream stream, bool full, std::string_view text, Time now);
  void format(Stream stream, bool full, std::string_view text, Time now);
  void write_out(Time now);
  // False: the disk is full.
  bool write_kept();
  void say_what_was_lost(Time now);
  void rotate();

  std::string path_;
  std::uint64_t quota_;
  Fd fd_;
  std::uint64_t size_ = 0;
  std::uint64_t lost_ = 0;                // bytes of the program that no line tells of yet
  bool within_line_[2] = {false, false};  // the last piece of the stream was no end of a line
  std::string held_[2];
  std::string out_;             // formatted and not yet in the file
  bool within_record_ = false;  // the file has the beginning of it
};

// 2026-01-02T03:04:05.000000006Z
std::string format_nano_time(Time time);

}  // namespace muster::node::shim
