#pragma once

#include "base/error.h"
#include "cli/context.h"

namespace muster::cli {

// The same error; of a home whose disk is full: which one, and what helps.
Error naming_full_disk(const Context& context, Error error);

}  // namespace muster::cli
