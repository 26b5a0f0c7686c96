#pragma once

#include "rt/scope.h"
#include "rt/wait.h"
#include "server/store/journal.h"

namespace muster::server {

class Core;

// Removes Events an hour after they last happened, and the oldest ones when there are too many. A
// task on the core's loop that sleeps while there are none.
class EventExpiry {
 public:
  static constexpr Duration kLifetime = std::chrono::hours(1);
  static constexpr Duration kInterval = std::chrono::minutes(1);

  explicit EventExpiry(Core& core);

  void start();
  Task<void> close() { return scope_.close(); }
  void note(const Table& table);

 private:
  Task<void> run();
  void sweep();

  Core& core_;
  rt::Event present_;
  rt::Event crowded_;
  rt::TaskScope scope_;
};

}  // namespace muster::server
