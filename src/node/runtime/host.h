#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

// What the machine lets us do.
namespace muster::node {

// What of the rights that pods need is missing, each with what for: CAP_KILL (ending pods).
// `status` is /proc/self/status.
std::vector<std::string> missing_rights(std::string_view status);
// Forbidden, naming all of them.
Result<void> check_rights(std::string_view status);

// The first address of the machine that is not the loopback's; that one when there is no other.
std::string host_address();

// What the log of a container may take of a disk of that size: a sixteenth, and no more than
// wanted.
std::uint64_t log_quota(std::uint64_t wanted, std::uint64_t disk);

}  // namespace muster::node
