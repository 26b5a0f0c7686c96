#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "plan/dialect.h"

namespace muster::cli {

// The kinds that somebody named in one of their spellings (names_kind); all of the registry's for
// no name. Invalid for a name that nobody has or that two groups have.
Result<std::vector<const plan::Dialect*>> kinds_named(const plan::Registry& registry,
                                                      const std::vector<std::string>& names);

}  // namespace muster::cli
