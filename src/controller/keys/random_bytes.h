#pragma once

#include <cstddef>

#include "base/random.h"
#include "base/secret.h"

namespace muster::controller {

// So many bytes for a key. From the seam: unpredictable in production, the same for a seed in
// simulation.
Secret random_bytes(Rng& rng, std::size_t count);

}  // namespace muster::controller
