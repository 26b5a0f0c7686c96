#include "cli/terminal/screen.h"

#include "base/strings.h"

namespace muster::cli {
namespace {

// At most `width` columns; our status lines are mostly ASCII, so bytes over-estimate a little.
std::string fitted(const std::string& line, int width) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if ((static_cast<unsigned char>(line[i]) & 0xC0U) != 0x80U &&
        ++columns >= static_cast<std::size_t>(width)) {
      return line.substr(0, i);
    }
  }
  return line;
}

}  // namespace

void Screen::job_line(const std::string& line) {
  const bool redraw_after = shown_;
  clear_status();
  output_.write(line + "\n");
  output_.flush();
  if (redraw_after) redraw();
}

void Screen::note(const std::string& line) {
  const bool redraw_after = shown_;
  clear_status();
  output_.write_error(line + "\n");
  if (redraw_after) redraw();
}

void Screen::status(std::string line) {
  status_ = std::move(line);
  if (terminal_.err_is_terminal) redraw();
}

void Screen::clear_status() {
  if (shown_) output_.write_error("\r\x1b[K");
  shown_ = false;
}

void Screen::redraw() {
  output_.write_error("\r\x1b[K" + fitted(status_, terminal_.width));
  shown_ = true;
}

}  // namespace muster::cli
