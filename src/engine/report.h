#pragma once

#include <vector>

#include "engine/census.h"
#include "plan/verdict.h"

namespace muster::engine {

// The ranks that have a pod, in role and index order. One whose pod is on its way out, or is about
// to be replaced, has none.
std::vector<plan::RankReport> report(const Census& census);

}  // namespace muster::engine
