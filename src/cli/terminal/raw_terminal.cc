#include "cli/terminal/raw_terminal.h"

#include <sys/ioctl.h>

#include <utility>

namespace muster::cli {

Result<RawTerminal> RawTerminal::enter(int fd) {
  termios before{};
  if (::tcgetattr(fd, &before) != 0) return fail_errno("the terminal's settings");
  termios raw = before;
  ::cfmakeraw(&raw);
  // What was typed before stays and goes to the program.
  if (::tcsetattr(fd, TCSADRAIN, &raw) != 0) return fail_errno("the terminal's settings");
  return RawTerminal(fd, before);
}

RawTerminal::RawTerminal(RawTerminal&& other) noexcept
    : fd_(other.fd_), before_(std::exchange(other.before_, std::nullopt)) {}

RawTerminal::~RawTerminal() {
  if (before_) ::tcsetattr(fd_, TCSADRAIN, &*before_);
}

std::optional<rt::WindowSize> window_size(int fd) {
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return std::nullopt;
  return rt::WindowSize{.columns = size.ws_col, .rows = size.ws_row};
}

}  // namespace muster::cli
