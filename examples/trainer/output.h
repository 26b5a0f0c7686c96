#pragma once

#include <cstdio>
#include <utility>

#include <fmt/core.h>

namespace muster::trainer {

// One line on stdout, out at once: whoever follows the log of a rank must not wait for a buffer to
// fill.
template <class... Arguments>
void say(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  fmt::print(stdout, "{}\n", fmt::format(text, std::forward<Arguments>(arguments)...));
  static_cast<void>(std::fflush(stdout));
}

// One line on stderr, for what went wrong or was decided on the way.
template <class... Arguments>
void note(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  fmt::print(stderr, "muster-trainer: {}\n",
             fmt::format(text, std::forward<Arguments>(arguments)...));
}

}  // namespace muster::trainer
