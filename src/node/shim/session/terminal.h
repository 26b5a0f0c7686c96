#pragma once

#include <string>

#include "base/error.h"
#include "base/fd.h"

// Pseudo-terminals, and how a descriptor gets from one process to another.
namespace muster::node::shim {

struct Terminal {
  Fd control;  // our end
  Fd program;  // the program's
};
// A new one of the mount namespace that we are in.
Result<Terminal> open_terminal();
// It becomes the controlling terminal of our session, which has none yet.
Result<void> take_control(const Fd& program);
void set_window_size(const Fd& control, int columns, int rows);
// The character that ends the input of a program that reads lines; empty where it reads keys.
std::string end_of_lines(const Fd& control);

void send_descriptor(int socket, const Fd& descriptor);
// What came: a descriptor, or a text that says why none comes; neither at the end.
struct Received {
  Fd descriptor;
  std::string text;
};
Received receive_descriptor(int socket);

}  // namespace muster::node::shim
