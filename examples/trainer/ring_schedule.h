#pragma once

#include <cstddef>

namespace muster::trainer {

// The arithmetic of a ring all-reduce: n ranks, a vector cut into n chunks, 2(n-1) rounds, in each
// of which every rank sends one chunk to the next rank and receives one from the previous.
//
// In the first n-1 rounds (reduce-scatter) a received chunk is added to our own. Each chunk so
// makes one trip round the ring and is complete in exactly one place. In the second n-1 rounds
// (all-gather) the complete chunks make the trip once more and replace what is there. Every rank
// thus ends with the same bytes: each sum was computed once, by one rank, in one order.

struct Chunk {
  std::size_t first = 0;
  std::size_t count = 0;
};

// Chunk `index` of `ranks` of a vector of `size`; sizes differ by at most one, and may be zero.
constexpr Chunk chunk_of(std::size_t size, std::size_t ranks, std::size_t index) {
  const std::size_t least = size / ranks;
  const std::size_t larger = size % ranks;  // so many chunks, the first ones, hold one more
  const std::size_t first = index * least + (index < larger ? index : larger);
  return {first, least + (index < larger ? 1 : 0)};
}

struct Round {
  std::size_t sent = 0;      // index of the chunk that goes to the next rank
  std::size_t received = 0;  // index of the chunk that comes from the previous one
  bool adds = false;         // whether the received chunk is added, or replaces
};

constexpr std::size_t round_count(std::size_t ranks) {
  return 2 * (ranks - 1);
}

constexpr Round round_of(std::size_t rank, std::size_t ranks, std::size_t round) {
  const bool adds = round + 1 < ranks;
  // A rank begins with its own chunk, then passes on what it has just received. The gathering
  // begins with the chunk that the reduction left complete here: the one that follows our own.
  const std::size_t passed = adds ? round : round - (ranks - 1);
  const std::size_t sent = (rank + (adds ? 0 : 1) + ranks - passed) % ranks;
  return {.sent = sent, .received = (sent + ranks - 1) % ranks, .adds = adds};
}

}  // namespace muster::trainer
