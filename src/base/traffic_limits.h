#pragma once

#include "base/limits.h"

// Bounds on what clients of our servers can make us hold; the table in docs/operations.md says how
// each was computed. Apart from base/limits.h only because that one is included nearly everywhere.
namespace muster::limits {

inline constexpr std::size_t kMaxHeaders = 100;

// Large requests that are read or handled at a time, by all connections of a listener together. One
// is there about seven times (as it came, padded, parsed, written for the disk, written for
// watchers, answered, on its way): 8 MiB of them cost 56.
inline constexpr std::size_t kMaxRequestBytesAtOnce = std::size_t{8} << 20U;
// Requests up to this size wait for nobody: 1,024 connections × 16 KiB = 16 MiB.
inline constexpr std::size_t kSmallRequestBytes = std::size_t{16} << 10U;
// Large answers that their readers have not taken yet, of a listener.
inline constexpr std::size_t kMaxUnreadAnswerBytes = std::size_t{16} << 20U;

// Watches over the wire. All of them leave a quarter of a listener's connections to others.
inline constexpr std::size_t kMaxWatchesPerClient = 256;
inline constexpr std::size_t kMaxWatches = 768;
// What is kept for watchers to resume from, of all kinds together: what objects were before.
inline constexpr std::size_t kMaxHistoryBytes = std::size_t{16} << 20U;
// Written events that watchers have not taken yet; each is there once, whoever waits for it.
inline constexpr std::size_t kMaxEventBytesAtOnce = std::size_t{16} << 20U;

inline constexpr std::size_t kMaxEvents = 10'000;  // kept Events, of 1 to 2 kB each

}  // namespace muster::limits
