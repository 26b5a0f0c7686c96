#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

// What the machine lets us do.
namespace muster::node {

// Forbidden, naming every right that is missing. `status` is /proc/self/status.
Result<void> check_rights(std::string_view status);

// The first address of the machine that is not the loopback's; that one when there is no other.
std::string host_address();

// What the log of a container may take of a disk of that size: a sixteenth, and no more than
// wanted.
std::uint64_t log_quota(std::uint64_t wanted, std::uint64_t disk);

}  // namespace muster::node
