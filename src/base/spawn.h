#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace muster {

struct SpawnApart {
  std::string program;
  std::vector<std::string> words;        // its own name first
  std::vector<int> handed;               // descriptors that it finds as 3, 4, …
  std::vector<std::string> environment;  // NAME=VALUE
};

// Starts a process that goes on without us: in a session of its own, so that Ctrl-C in our terminal
// and the end of it are not for it, with no signal blocked or ignored, in `/`, with nothing of ours
// open but what it is handed. Returns its pid; whoever waits for it is not decided here.
Result<int> spawn_apart(const SpawnApart& what);

// Ours, to hand it on.
std::vector<std::string> own_environment();

}  // namespace muster
