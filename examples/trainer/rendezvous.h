#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trainer/messages.h"

namespace muster::trainer {

// What the scheduler decides, without its sockets: told what arrived, it says what to send and whom
// to let go.
//
//   Gathering ── the last worker registers ──▶ Training ── all are done ──▶ Finished
//       ▲                                          │
//       └── a member hangs up or registers anew ───┘
//
// A generation is one set of processes that trains together. It is all or nothing: when one member
// goes, the others are told who it was and let go, and the next generation forms from scratch at
// the greatest step that all have.
class Rendezvous {
 public:
  using ConnectionId = std::uint64_t;

  // One line for a connection (none if empty), after which it may be closed.
  struct Outgoing {
    ConnectionId to = 0;
    std::string line;
    bool is_last = false;
  };
  struct Effects {
    std::vector<Outgoing> send;
    std::vector<std::string> notes;  // for the scheduler's log
  };

  // `session` tells this life of the scheduler from others that used the same port.
  Rendezvous(std::size_t workers, std::uint64_t session) : workers_(workers), session_(session) {}

  [[nodiscard]] Effects on_registration(ConnectionId connection, Registration registration);
  [[nodiscard]] Effects on_done(ConnectionId connection, Done done);
  [[nodiscard]] Effects on_closed(ConnectionId connection);

  // All workers said that they are done, and were told so.
  [[nodiscard]] bool is_finished() const { return phase_ == Phase::Finished; }

 private:
  enum class Phase : std::uint8_t { Gathering, Training, Finished };
  struct Member {
    Registration registration;
    bool is_done = false;
  };
  using Members = std::map<ConnectionId, Member>;

  void add(ConnectionId connection, Registration registration, Effects& effects);
  void start_generation(Effects& effects);
  void abandon_generation(const std::string& lost, Effects& effects);
  void finish(Effects& effects);
  [[nodiscard]] Members::iterator find(const std::string& node_id);

  const std::size_t workers_;
  const std::uint64_t session_;
  Phase phase_ = Phase::Gathering;
  std::uint64_t generation_ = 0;
  Members members_;
};

// The greatest step in every list; 0, the beginning, is common to all.
[[nodiscard]] std::uint64_t greatest_common_step(
    const std::vector<std::vector<std::uint64_t>>& lists);

}  // namespace muster::trainer
