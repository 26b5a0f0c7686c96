#pragma once

#include <string_view>

namespace muster::cli {

// What a shell has to read so that it completes our commands: bash, zsh or fish. It asks
// `muster __complete WORDS…` for everything.
std::string_view completion_script(std::string_view shell);

}  // namespace muster::cli
