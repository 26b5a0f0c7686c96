#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "rt/pool.h"
#include "rt/real_loop.h"
#include "rt/task.h"

namespace muster::agent {

using Endpoint = std::pair<std::string, std::uint16_t>;  // address and port

// Waits until each of them has accepted a connection once. Timeout names those that did not within
// the limit; asked before every round, `give_up` can end the waiting with its error.
Task<Result<void>> wait_for_ports(rt::RealLoop& loop, rt::Pool& pool,
                                  std::vector<Endpoint> endpoints, Duration limit,
                                  std::function<std::optional<Error>()> give_up);

}  // namespace muster::agent
