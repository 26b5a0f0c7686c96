#include "cli/terminal/screen.h"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/terminal/text_width.h"

namespace muster::cli {
namespace {

constexpr Duration kPause = std::chrono::milliseconds(50);  // 20 redraws a second
// What may be held for so long: 20 MB/s, more than a terminal takes.
constexpr std::size_t kMostHeld = std::size_t{1} << 20U;
// A name shorter than that says nothing; then the end of the line gives way as well.
constexpr std::size_t kShortestName = 8;

std::string fitted(const StatusLine& line, std::size_t columns, Ellipsis ellipsis) {
  const std::size_t others = text_width(line.before) + text_width(line.after);
  const std::size_t room = columns > others ? columns - others : 0;
  return elide_end(
      line.before + elide_middle(line.name, std::max(room, kShortestName), ellipsis) + line.after,
      columns, ellipsis);
}

// One line, and nothing in it that steers a terminal but colours.
std::string tamed(std::string_view text, const Terminal& terminal) {
  std::string line = safe_line(text, terminal.color);
  for (char& c : line) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return terminal.utf8 ? line : ascii_only(line);
}

}  // namespace

Screen::Screen(rt::Loop& loop, Output& output, const Terminal& terminal)
    : loop_(loop), output_(output), terminal_(terminal), timer_(loop) {
  output_.before_text([this](Output::Stream stream) {
    if (stream == Output::Stream::Error || terminal_.out_is_terminal) hide();
  });
}

Screen::~Screen() {
  clear_status();
  output_.before_text({});
}

void Screen::job_line(std::string_view line) {
  held_ += line;
  held_ += '\n';
  if (held_.size() > kMostHeld) write_lines();
  schedule();
}

void Screen::note(std::string_view line) {
  write_lines();
  hide();
  output_.write_error(std::string(line) + "\n");
  schedule();
}

void Screen::status(std::vector<StatusLine> lines) {
  status_ = std::move(lines);
  stale_ = true;
  schedule();
}

void Screen::clear_status() {
  write_lines();
  hide();
  status_.clear();
  stale_ = false;
}

void Screen::resized() {
  stale_ = true;
  // What a narrower window made of it looks like something else.
  if (!drawn_.empty()) drawn_.assign(1, "");
  schedule();
}

// Lines that come after a pause are written in the next turn of the loop. Those of a flood wait,
// and come with the next redraw: the area is never away for long.
Monotonic Screen::lines_due(Monotonic now) const {
  if (!written_at_ || now - *written_at_ >= 2 * kPause) return now;
  return std::max(*written_at_, drawn_at_.value_or(*written_at_)) + kPause;
}

Monotonic Screen::area_due(Monotonic now) const {
  return drawn_at_ ? std::max(now, *drawn_at_ + kPause) : now;
}

void Screen::schedule() {
  const bool area = stale_ && terminal_.err_is_terminal;
  if (held_.empty() && !area) return;
  const Monotonic now = loop_.monotonic();
  const Monotonic due = held_.empty() ? area_due(now)
                        : area        ? std::min(lines_due(now), area_due(now))
                                      : lines_due(now);
  if (timer_.active() && due_ <= due) return;
  due_ = due;
  timer_.start(std::max(due - now, Duration{}), [this] { catch_up(); });
}

void Screen::catch_up() {
  const Monotonic now = loop_.monotonic();
  if (!held_.empty() && lines_due(now) <= now) write_lines();
  if (stale_ && area_due(now) <= now) redraw();
  schedule();
}

void Screen::write_lines() {
  if (held_.empty()) return;
  if (terminal_.out_is_terminal) hide();
  output_.write(held_);
  output_.flush();
  held_.clear();
  written_at_ = loop_.monotonic();
}

// The cursor is on its first row.
void Screen::hide() {
  if (drawn_.empty()) return;
  drawn_.clear();
  stale_ = true;
  output_.draw("\r\x1b[J");
  schedule();
}

void Screen::measure() {
  if (!terminal_.measure) return;
  if (const auto size = terminal_.measure()) {
    terminal_.width = size->columns;
    terminal_.height = size->rows;
  }
}

std::vector<std::string> Screen::composed() const {
  const auto rows = static_cast<std::size_t>(std::max(terminal_.height, 2)) - 1;
  // The last column stays free: there a terminal is about to wrap.
  const auto columns = static_cast<std::size_t>(std::max(terminal_.width, 2)) - 1;
  const std::size_t shown = std::min(status_.size(), rows);
  std::vector<StatusLine> lines;
  for (const Part::Compose& compose : parts_) {
    const std::size_t most = std::min(rows - shown, (rows + 1) / 2);
    auto more = compose(most - std::min(most, lines.size()));
    lines.insert(lines.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
  }
  lines.insert(lines.end(), status_.begin(), status_.begin() + static_cast<std::ptrdiff_t>(shown));
  std::vector<std::string> out;
  for (const StatusLine& line : lines) {
    const StatusLine safe(tamed(line.before, terminal_), tamed(line.name, terminal_),
                          tamed(line.after, terminal_));
    out.push_back(fitted(safe, columns, terminal_.utf8 ? Ellipsis::Unicode : Ellipsis::Ascii));
  }
  return out;
}

void Screen::redraw() {
  stale_ = false;
  if (!terminal_.err_is_terminal) return;
  drawn_at_ = loop_.monotonic();
  measure();
  auto lines = composed();
  if (lines == drawn_) return;
  if (lines.empty()) {
    hide();
    stale_ = false;
    return;
  }
  // Wrapping is off meanwhile: the window may be narrower than it was a moment ago.
  std::string text = "\r\x1b[J\x1b[?7l" + join(lines, "\r\n") + "\x1b[?7h\r";
  if (lines.size() > 1) text += fmt::format("\x1b[{}A", lines.size() - 1);
  drawn_ = std::move(lines);
  output_.draw(text);
}

Screen::Part::Part(Screen& screen, Compose compose)
    : screen_(screen), place_(screen.parts_.insert(screen.parts_.end(), std::move(compose))) {}

Screen::Part::~Part() {
  screen_.parts_.erase(place_);
  changed();
}

void Screen::Part::changed() {
  screen_.stale_ = true;
  screen_.schedule();
}

Task<void> follow_window(rt::RealLoop& loop, Screen& screen) {
  rt::Signals changes(loop, {SIGWINCH});
  while (co_await changes.next()) screen.resized();
}

}  // namespace muster::cli
