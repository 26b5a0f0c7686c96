#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "trainer/group.h"
#include "trainer/messages.h"
#include "trainer/network.h"
#include "trainer/ring_schedule.h"
#include "trainer/scheduler_link.h"

namespace muster::trainer {

// All-reduce over TCP: every rank has one connection to the next rank, which it only writes, and
// one from the previous rank, which it only reads. A peer that hangs up, or from which nothing
// moves for `patience`, is lost and ends the ring for good; the process is expected to end too.
//
// Both sides know how much each round carries, so nothing that arrives decides an allocation.
// Frames are numbered, and connections open with the session and generation: a process left over
// from another time cannot mix in.
class Ring final : public Group {
 public:
  struct Setup {
    Descriptor listener;  // whose port the others were told
    Start start;
    SchedulerLink& link;  // outlives the ring
    std::chrono::milliseconds patience{30'000};
  };
  [[nodiscard]] static Result<Ring> connect(Setup setup);

  [[nodiscard]] Result<void> sum(std::uint64_t step, std::span<double> values) override;
  [[nodiscard]] Result<void> pause(std::chrono::milliseconds duration) override;

  // Returns once every rank has called it.
  [[nodiscard]] Result<void> barrier();

 private:
  Ring(Start start, SchedulerLink& link, std::chrono::milliseconds patience);

  [[nodiscard]] Result<void> call_next();
  [[nodiscard]] Result<void> accept_previous(const Descriptor& listener);
  // Whether the connection introduces itself as the previous rank of this very ring.
  [[nodiscard]] Result<bool> is_previous(const Descriptor& socket, Clock::time_point deadline);

  // Sends all of outgoing_ to the next rank while filling incoming_ from the previous one. At the
  // same time, because with everybody sending first the socket buffers of a large ring step would
  // fill up and nobody would ever read.
  [[nodiscard]] Result<void> exchange();

  [[nodiscard]] std::size_t ranks() const { return start_.peers.size(); }
  [[nodiscard]] std::size_t next_rank() const { return (start_.rank + 1) % ranks(); }
  [[nodiscard]] std::size_t previous_rank() const { return (start_.rank + ranks() - 1) % ranks(); }
  [[nodiscard]] std::unexpected<Error> lost(std::size_t rank, std::string_view how) const;

  Start start_;
  SchedulerLink* link_;
  std::chrono::milliseconds patience_;
  Descriptor next_;
  Descriptor previous_;
  std::string outgoing_;
  std::string incoming_;
};

}  // namespace muster::trainer
