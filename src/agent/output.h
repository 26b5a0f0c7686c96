#pragma once

#include <string>
#include <string_view>

// What the program itself says; it must be told from what the programs that it starts print.
namespace muster::agent {

// To stdout, as it is.
void print(const std::string& text);
// "muster-agent: TEXT" to stderr, one line.
void say(std::string_view text);
// "muster-agent: error: TEXT" to stderr, one line.
void say_error(std::string_view text);

}  // namespace muster::agent
