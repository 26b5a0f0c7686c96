#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "node/linux/cgroup.h"
#include "node/shim/protocol.h"

// A pod whose shim lives but whose record cannot be read: what can still be said of it and done to
// it. All of it blocks: for the pool.
namespace muster::node {

// The shims that hold the pod's lock: the one that left its identity, or else whoever has the lock
// open as only a shim has it. Empty when there is none.
std::vector<linux::ProcessIdentity> find_shims(const std::string& directory);

// The addresses that processes with this one's network namespace have, host byte order. `fib_trie`
// is /proc/PID/net/fib_trie.
std::vector<std::uint32_t> local_addresses(std::string_view fib_trie);
std::vector<std::uint32_t> addresses_of(const linux::ProcessIdentity& process);

// Kills its shim, and with it the pod, and whatever is left in its cgroup; returns when nothing of
// it runs any more.
Result<void> end_unknown_pod(const std::string& directory, const linux::Cgroup& cgroup);

}  // namespace muster::node
