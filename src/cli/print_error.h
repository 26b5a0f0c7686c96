#pragma once

#include "base/error.h"
#include "cli/terminal/output.h"

namespace muster::cli {

// One line on stderr: "error: …", with every field cause on a line of its own.
void print_error(Output& output, const Error& error);

}  // namespace muster::cli
