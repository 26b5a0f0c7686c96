#include "cli/terminal/full_screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace muster::cli {
namespace {

constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l";  // another page, no cursor
constexpr std::string_view kLeave = "\x1b[?25h\x1b[?1049l";

// The first so many characters; our tables have none that are wider than one column.
std::string_view cut(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
    if (begins && seen++ == columns) break;
  }
  return text.substr(0, end);
}

}  // namespace

std::string frame(const std::vector<std::string>& lines, std::size_t rows, std::size_t columns) {
  std::string out = "\x1b[H";
  for (std::size_t row = 0; row < std::min(rows, lines.size()); ++row) {
    if (row > 0) out += "\r\n";
    out += cut(lines[row], columns);
    out += "\x1b[K";
  }
  return out + "\x1b[J";
}

FullScreen::FullScreen(Output& output) : output_(output) {
  output_.write(kEnter);
}

FullScreen::~FullScreen() {
  output_.write(kLeave);
  output_.flush();
}

void FullScreen::show(const std::vector<std::string>& lines) {
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  output_.write(frame(lines, known ? size.ws_row : 24, known ? size.ws_col : 80));
  output_.flush();
}

}  // namespace muster::cli
