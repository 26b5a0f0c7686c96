#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "node/runtime/types.h"

namespace muster::node::shim {

// What a shim begins with.
struct Birth {
  std::string directory;  // of its pod
  std::vector<ServiceRule> rules;
  Fd lock;   // on that directory, for as long as the shim lives
  Fd ready;  // takes one answer when the pod is ready, or why it is not
  Fd empty;  // a mount namespace with nothing in it
};

// Where the lock is in every shim: by that it is found.
inline constexpr int kLockDescriptor = 3;
// Where a nursery gets its births.
inline constexpr int kBirthsDescriptor = 3;

// The words that a nursery is started with, behind its program.
std::vector<std::string> nursery_words(const std::string& home_key);

// What a shim is asked for: its pod's directory, and the rules that the pod's network begins with.
std::string birth_message(const std::string& directory, const std::vector<ServiceRule>& rules);
// A longer one cannot be sent; without rules each is shorter.
inline constexpr std::size_t kMostBirthBytes = std::size_t{32} << 10U;

// Asks for a shim. From any thread: a birth is one message.
Result<void> send_birth(const Fd& nursery, std::string message, const Fd& lock, const Fd& ready);

// Forks a shim for each birth. Returns in every one of them with what it begins with, and in the
// nursery with nothing once nobody can ask any more.
Result<std::optional<Birth>> tend(Fd births);

// The answer on Birth::ready.
void tell_outcome(Fd& ready, const Result<void>& outcome);

}  // namespace muster::node::shim
