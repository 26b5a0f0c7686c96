#pragma once

#include <string>
#include <vector>

#include "cli/terminal/output.h"

namespace muster::cli {

// The whole window for one view that is drawn again and again, as top(1) does. What was there
// before comes back at the end. Lines are cut to the window, whatever size it has at that moment.
class FullScreen {
 public:
  explicit FullScreen(Output& output);
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;
  ~FullScreen();

  void show(const std::vector<std::string>& lines);

 private:
  Output& output_;
};

// What is drawn: at most so many rows and columns, each row in its place, the rest of the window
// empty.
std::string frame(const std::vector<std::string>& lines, std::size_t rows, std::size_t columns);

}  // namespace muster::cli
