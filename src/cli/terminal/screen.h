#pragma once

#include <string>
#include <string_view>

#include "cli/terminal/output.h"
#include "cli/terminal/terminal.h"

namespace muster::cli {

// Job output on stdout, one status line below it on stderr where that is a terminal. Whole lines
// only.
class Screen {
 public:
  Screen(Output& output, const Terminal& terminal) : output_(output), terminal_(terminal) {}
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() { clear_status(); }

  // A line of the job, already with its prefix.
  void job_line(const std::string& line);
  // A line of ours.
  void note(const std::string& line);
  // Replaces the status line; shown only on a terminal.
  void status(std::string line);
  void clear_status();

  [[nodiscard]] const Terminal& terminal() const { return terminal_; }

 private:
  void redraw();

  Output& output_;
  Terminal terminal_;
  std::string status_;
  bool shown_ = false;
};

}  // namespace muster::cli
