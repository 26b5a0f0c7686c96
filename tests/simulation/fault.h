#pragma once

#include <cstddef>
#include <string_view>

namespace muster::simulation {

// The one thing that goes wrong in a run. Calls, writes and events are numbered from 1, in the
// order in which they happen.
struct Fault {
  enum class Kind {
    None,
    CrashBefore,      // the call does not reach the server, the controller dies
    CrashAfter,       // the call is done, the controller dies before the answer
    DropEvent,        // lost without a trace
    RepeatEvent,      // delivered twice
    DelayEvent,       // past the events of other kinds; within a kind the order is kept
    CutWatch,         // the stream ends where the event would have come
    ExpireWatch,      // 410 there, and for every older version
    Conflict,         // 409 on a write
    TooManyRequests,  // 429
    ServerError,      // 500
    TimeoutBefore,    // no answer, not done
    TimeoutAfter,     // no answer, done
  };
  Kind kind = Kind::None;
  std::size_t at = 0;
};

inline bool is_crash(Fault::Kind kind) {
  return kind == Fault::Kind::CrashBefore || kind == Fault::Kind::CrashAfter;
}
std::string_view to_string(Fault::Kind kind);

}  // namespace muster::simulation
