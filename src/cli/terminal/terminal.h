#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "cli/context.h"
#include "rt/remote_program.h"

namespace muster::cli {

// What the two output streams can show.
struct Terminal {
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  bool color = false;
  bool utf8 = false;
  int width = 80;
  int height = 24;
  // Asks again how large the window is; empty: it stays as it is.
  std::function<std::optional<rt::WindowSize>()> measure;

  static Terminal detect(const Context& context);
};

// Text without anything that could steer a terminal, except colours when they are allowed.
std::string safe_line(std::string_view line, bool keep_color);
// The same, added to something.
void append_safe(std::string& out, std::string_view line, bool keep_color);

// The length of a colour (ESC [ digits ; m) at the front, 0 if there is something else.
std::size_t color_length(std::string_view text);

// w0 of Worker, ps0 of PS: the role's initial, or the whole of a short name. Empty without a role.
std::string rank_name(std::string_view role, int index);

// "w0 │ " with a colour of its own for each rank.
std::string line_prefix(const Terminal& terminal, std::string_view role, int index, bool bold);

// h:mm:ss
std::string clock_time(Duration duration);

}  // namespace muster::cli
