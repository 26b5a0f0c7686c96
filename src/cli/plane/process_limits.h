#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::cli {

// Makes this process fit to serve many: as many descriptors as it may have (but not more than
// kMostOpenFiles), and memory that goes back to the system when it is freed. Returns how many
// descriptors it could have before: what its pods are given.
std::uint64_t prepare_to_serve();
inline constexpr std::uint64_t kMostOpenFiles = 65'536;

// How many connections each of our two listeners may have: half of all descriptors are for the
// plane's own work (store, shims, logs, streams to containers).
std::size_t connections_of_a_listener();

}  // namespace muster::cli
