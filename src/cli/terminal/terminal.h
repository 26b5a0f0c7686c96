#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/context.h"

namespace muster::cli {

// What the two output streams can show.
struct Terminal {
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool color = false;
  bool utf8 = false;
  int width = 80;

  static Terminal detect(const Context& context);
};

// Text without anything that could steer a terminal, except colours when they are allowed.
std::string safe_line(std::string_view line, bool keep_color);

// "w0 │ " with a colour of its own for each rank.
std::string line_prefix(const Terminal& terminal, std::string_view role, int index, bool bold);

// h:mm:ss
std::string clock_time(Duration duration);

}  // namespace muster::cli
