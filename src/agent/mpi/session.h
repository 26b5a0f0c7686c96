#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/child.h"
#include "agent/mpi/channel.h"
#include "agent/mpi/tally/report.h"
#include "rt/scope.h"

namespace muster::agent::mpi {

// One request of a peer: a command that runs here, in the container's environment and directory,
// for as long as the peer holds the connection.
class Session {
 public:
  // What the command runs with besides our own environment.
  Session(rt::RealLoop& loop, Reaper& reaper, std::unique_ptr<net::Stream> stream,
          std::vector<std::string> more_environment);

  // Ends when the peer has its answer or has gone; cancelled, it ends the command first.
  Task<void> serve();

  // What a rank below the command has to tell, to the peer; ends when that has noted it.
  Task<Result<void>> relay(RankReport report);

 private:
  Task<Result<void>> answer();
  Task<Result<void>> start(std::string command_line);
  Task<Result<void>> run();
  Task<void> copy(rt::Descriptor& from, FrameType type);
  Task<void> watch_peer();
  Task<void> watch_child();
  void take_note(std::string_view number);
  Task<void> end_processes();

  rt::RealLoop& loop_;
  Reaper& reaper_;
  FrameChannel channel_;
  std::vector<std::string> more_environment_;
  std::uint64_t last_report_ = 0;
  std::map<std::uint64_t, rt::Pending<void>> unnoted_;
  std::optional<Child> child_;
  std::optional<rt::Descriptor> output_;
  std::optional<rt::Descriptor> error_;
  int open_outputs_ = 2;
  rt::Event outputs_ended_;
  rt::Event peer_gone_;
  rt::Event over_;  // the command has ended, or the peer has gone
  rt::TaskScope scope_;
};

}  // namespace muster::agent::mpi
