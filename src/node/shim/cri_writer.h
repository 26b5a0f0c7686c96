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

// The log of one container in CRI format: `2026-01-02T03:04:05.000000006Z stdout F text`.
// Byte-exact: the texts of a stream, with a newline after each F, are what the program wrote. A
// line without its newline is held back until that comes, the piece is full or flush() is called: a
// progress bar must be seen while it moves. At half the quota the file becomes PATH.1, in place of
// an older one. A disk that is full loses lines, never time: the program is not held up.
class CriWriter {
 public:
  enum class Stream { Stdout, Stderr };

  static Result<CriWriter> create(std::string path, std::uint64_t quota);

  void append(Stream stream, std::string_view bytes, Time now);
  [[nodiscard]] bool holds_back() const { return !held_[0].empty() || !held_[1].empty(); }
  // Writes what is held back.
  void flush(Time now);
  [[nodiscard]] std::uint64_t lost_bytes() const { return lost_; }

 private:
  CriWriter(std::string path, std::uint64_t quota) : path_(std::move(path)), quota_(quota) {}
  Result<void> open();
  void piece(Stream stream, bool full, std::string_view text, Time now);
  void write_out();
  void rotate();

  std::string path_;
  std::uint64_t quota_;
  Fd fd_;
  std::uint64_t size_ = 0;
  std::uint64_t lost_ = 0;
  bool torn_ = false;  // the file ends within a line
  std::string held_[2];
  std::string out_;
};

// 2026-01-02T03:04:05.000000006Z
std::string format_nano_time(Time time);

}  // namespace muster::node::shim
