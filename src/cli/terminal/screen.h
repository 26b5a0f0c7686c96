#pragma once

#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"
#include "rt/real_loop.h"

namespace muster::cli {

// A line of the status area. Where the window is too narrow, the middle of `name` gives way first,
// then the end of the line: what follows a long name stays in sight.
struct StatusLine {
  StatusLine(std::string text) : after(std::move(text)) {}  // NOLINT: a line without a name
  StatusLine(std::string before, std::string name, std::string after)
      : before(std::move(before)), name(std::move(name)), after(std::move(after)) {}

  std::string before;
  std::string name;
  std::string after;
};

// Job output on stdout, and below it on stderr, where that is a terminal, an area that shows how
// things stand. Lives on the loop.
//
// The cursor rests on the first row of the area, so that "erase to the end" takes all of it away,
// however many rows a resized window made of it. Lines are held for a moment while many come: there
// are at most 20 redraws a second, and lines come at most as often, but the first one after a pause
// at once. Whatever else is written to the output takes the area away first.
class Screen {
 public:
  Screen(rt::Loop& loop, Output& output, const Terminal& terminal);
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  // A line of the job, already with its prefix and without its newline.
  void job_line(std::string_view line);
  // A line of ours.
  void note(std::string_view line);
  // The last lines of the area; shown only on a terminal.
  void status(std::vector<StatusLine> lines);
  // Writes what is held and takes the area away; it comes back when it changes.
  void clear_status();
  // The window has another size.
  void resized();

  // Lines of the area above the status, made only when they are drawn. Goes with its owner.
  class Part {
   public:
    // At most so many lines.
    using Compose = std::function<std::vector<StatusLine>(std::size_t most)>;
    Part(Screen& screen, Compose compose);
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part();
    // Would be composed differently now.
    void changed();

   private:
    Screen& screen_;
    std::list<Compose>::iterator place_;
  };

  [[nodiscard]] const Terminal& terminal() const { return terminal_; }
  [[nodiscard]] rt::Loop& loop() const { return loop_; }

 private:
  void schedule();
  void catch_up();
  void write_lines();
  void redraw();
  void hide();
  void measure();
  [[nodiscard]] Monotonic lines_due(Monotonic now) const;
  [[nodiscard]] Monotonic area_due(Monotonic now) const;
  [[nodiscard]] std::vector<std::string> composed() const;

  rt::Loop& loop_;
  Output& output_;
  Terminal terminal_;
  std::string held_;  // lines of the job, not yet written
  std::vector<StatusLine> status_;
  std::list<Part::Compose> parts_;
  std::vector<std::string> drawn_;  // the area as the terminal has it; empty: it has none
  bool stale_ = false;              // it may have to look different
  std::optional<Monotonic> written_at_;
  std::optional<Monotonic> drawn_at_;
  rt::Timer timer_;
  Monotonic due_{};  // of the timer
};

// Tells a screen of every change of its window's size. Runs until cancelled.
Task<void> follow_window(rt::RealLoop& loop, Screen& screen);

}  // namespace muster::cli
