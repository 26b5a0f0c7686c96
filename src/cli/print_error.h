#pragma once

#include "base/error.h"

namespace muster::cli {

// One line on stderr: "error: …", with every field cause on a line of its own.
void print_error(const Error& error);

}  // namespace muster::cli
