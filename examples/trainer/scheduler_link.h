#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "trainer/error.h"
#include "trainer/line_reader.h"
#include "trainer/messages.h"
#include "trainer/network.h"

namespace muster::trainer {

// A worker's connection to the scheduler, watched during every wait of the training. The
// scheduler's word that a peer is lost ends the generation; the loss of the scheduler itself does
// not, since it is needed only to form one.
class SchedulerLink {
 public:
  // Not connected: what is left when the scheduler is gone, and all that a ring needs in a test.
  SchedulerLink() = default;
  explicit SchedulerLink(Descriptor socket) : socket_(std::move(socket)) {}

  [[nodiscard]] bool is_connected() const { return socket_.is_open(); }
  [[nodiscard]] const Descriptor& socket() const { return socket_; }

  [[nodiscard]] Result<void> send(const std::string& line);

  // The scheduler's answer to a registration; nothing if the deadline came or the scheduler went
  // first.
  [[nodiscard]] Result<std::optional<SchedulerMessage>> answer(Clock::time_point deadline);

  // Waits for the given descriptors; false when the deadline came first. An error if the scheduler
  // says meanwhile that a peer is lost.
  [[nodiscard]] Result<bool> wait(std::span<const pollfd> descriptors, Clock::time_point deadline);

  // Says that this worker is done, and waits until all are. When the scheduler is gone or silent
  // the answer is taken as given: the ring's last barrier has already shown that every rank has its
  // result on disk.
  [[nodiscard]] Result<void> finish(std::uint64_t generation, Clock::time_point deadline);

  // Whom the scheduler reported lost, if it does so before the deadline.
  [[nodiscard]] std::optional<std::string> lost_peer(Clock::time_point deadline);

 private:
  // Reads what has arrived. On the end of the connection the link becomes unconnected.
  void receive();
  [[nodiscard]] Result<void> handle_news();

  Descriptor socket_;
  LineReader lines_{kMaxSchedulerLine};
  std::optional<std::string> lost_;
  bool is_finished_ = false;
};

struct JoinRequest {
  std::string host;
  std::uint16_t port = 0;
  Registration
      registration;  // its address is filled in: that of our end of the connection to the scheduler
  std::chrono::seconds timeout{60};
};

struct Joined {
  SchedulerLink link;
  Start start;
};
struct AlreadyFinished {};  // the scheduler says that all workers are done
struct TimedOut {
  std::string reason;
};
using JoinOutcome = std::variant<Joined, AlreadyFinished, TimedOut>;

// Registers with the scheduler, which may not be there yet, and waits until all workers have.
[[nodiscard]] Result<JoinOutcome> join(JoinRequest request);

}  // namespace muster::trainer
