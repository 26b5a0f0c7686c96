#pragma once

#include <termios.h>

#include <optional>

#include "base/error.h"
#include "rt/remote_program.h"

namespace muster::cli {

// While it lives, every key that is typed goes to us as it is, Ctrl-C too: the terminal belongs to
// a program elsewhere. Afterwards the terminal is as it was.
class RawTerminal {
 public:
  static Result<RawTerminal> enter(int fd);
  RawTerminal(RawTerminal&& other) noexcept;
  RawTerminal& operator=(RawTerminal&&) = delete;
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal();

 private:
  RawTerminal(int fd, const termios& before) : fd_(fd), before_(before) {}
  int fd_;
  std::optional<termios> before_;  // nothing: moved from
};

// Nothing when it is no terminal, or does not know.
std::optional<rt::WindowSize> window_size(int fd);

}  // namespace muster::cli
