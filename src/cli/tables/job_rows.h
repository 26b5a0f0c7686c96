#pragma once

#include <vector>

#include "cli/context.h"
#include "cli/tables/layout.h"

namespace muster::cli {

// Of every kind.
Layout job_layout(Width width);

// Says on standard error why jobs of a table wait, and what would unblock them.
void note_waiting(Context& context, const std::vector<Item>& items, const Surroundings& around);

}  // namespace muster::cli
