#pragma once

#include "cli/context.h"

namespace muster::cli {

// What people did to a command that follows jobs. Lives on the loop.
struct Interruption {
  explicit Interruption(rt::Loop& loop) : happened(loop) {}

  int count = 0;          // how often they asked to stop
  bool detached = false;  // they went away: everything goes on without us
  rt::Event happened;     // pulsed at each

  // They do not even wait until what they killed is gone: somebody else may keep it.
  [[nodiscard]] bool is_final() const { return count > 2; }

  void stop() {
    ++count;
    happened.pulse();
  }
  void detach() {
    detached = true;
    happened.pulse();
  }
};

enum class OnCtrlC { Stop, Detach };

// Listens for the signals by which people end a command, until cancelled. A terminal that is closed
// detaches; under nohup it does not concern us.
Task<void> watch_signals(rt::RealLoop& loop, Interruption& interruption, OnCtrlC on_ctrl_c);

}  // namespace muster::cli
