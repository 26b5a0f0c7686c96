#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal/terminal.h"

namespace muster::cli {

// The unfinished line of one rank.
struct RankBar {
  std::string role;
  int index = 0;
  std::string text;  // its last state, without anything that steers a terminal
};

// "w0-w3,w5 │  45%|████▌     | 45/100": one line for all ranks that agree, in the order of the
// first of each. Ranks agree when their texts are the same, but for the time and speed that a bar
// of tqdm has at its end; then the first one's is shown. What does not fit is counted in the last
// line.
std::vector<std::string> merged_bars(const Terminal& terminal, const std::vector<RankBar>& bars,
                                     std::size_t most);

// What is left of a line that overwrote itself: after its last carriage return, where something
// follows.
std::string_view last_state(std::string_view line);

}  // namespace muster::cli
