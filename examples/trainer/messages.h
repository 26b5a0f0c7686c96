#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trainer/error.h"
#include "trainer/network.h"

namespace muster::trainer {

// What workers and the scheduler say to each other: one line of text for each message.
//
//   worker     register 1 <node id> <address:port> <digest> <steps, or ->
//   scheduler  start <generation> <session> <rank> <resume step> <node id>=<address:port>,...
//   worker     done <generation>
//   scheduler  finished | lost <node id> | reject <reason>
//
// Everything parsed here came from the network: lengths, counts, ranges and names are checked, and
// a line that does not pass is an error that quotes no more than its first word.

// A worker offers itself, and the checkpoints it could resume from.
struct Registration {
  std::string node_id;
  Endpoint endpoint;
  std::uint64_t digest = 0;  // of its hyper-parameters
  std::vector<std::uint64_t> steps;
};

struct Peer {
  std::string node_id;
  Endpoint endpoint;
};

// Everyone is there: the worker's place in the ring, and where to begin. Peers are in the order of
// their ranks.
struct Start {
  std::uint64_t generation = 0;
  std::uint64_t session = 0;  // of this life of the scheduler; generations count from 1 in each
  std::uint64_t rank = 0;
  std::uint64_t resume_step = 0;
  std::vector<Peer> peers;
};

struct Done {
  std::uint64_t generation = 0;
};

// All workers are done; nobody will be asked for anything any more.
struct Finished {};

// A member of the generation is gone, and the generation with it.
struct Lost {
  std::string node_id;
};

// This worker is not wanted, and would not be next time either.
struct Rejected {
  std::string reason;
};

using WorkerMessage = std::variant<Registration, Done>;
using SchedulerMessage = std::variant<Start, Finished, Lost, Rejected>;

inline constexpr std::size_t kMaxAdvertisedSteps = 16;
// 253 bytes of node id, an address, a digest and 16 steps of 7 digits stay below 512.
inline constexpr std::size_t kMaxWorkerLine = 1'024;
// 1,024 peers of 253 + 1 + 21 + 1 bytes are 276 KiB.
inline constexpr std::size_t kMaxSchedulerLine = std::size_t{320} << 10;

// Lines without their end.
[[nodiscard]] std::string encode(const Registration& message);
[[nodiscard]] std::string encode(const Start& message);
[[nodiscard]] std::string encode(const Done& message);
[[nodiscard]] std::string encode(const Finished& message);
[[nodiscard]] std::string encode(const Lost& message);
[[nodiscard]] std::string encode(const Rejected& message);

[[nodiscard]] Result<WorkerMessage> parse_worker_message(std::string_view line);
[[nodiscard]] Result<SchedulerMessage> parse_scheduler_message(std::string_view line);

}  // namespace muster::trainer
