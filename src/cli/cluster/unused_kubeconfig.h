#pragma once

#include "cli/context.h"

namespace muster::cli {

// People who live in kubectl have KUBECONFIG set and may think that a command is about that
// cluster. When it is about this machine, says so: once in a home, and again for another value.
void note_unused_kubeconfig(const Context& context);

}  // namespace muster::cli
