#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace muster::simulation {

// One thing that goes wrong in a run, or that somebody does at a bad moment. Calls, writes and
// events are numbered from 1, in the order in which they happen.
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
    // What happens around the controller while it makes a call.
    ClockForward,  // its wall clock is set an hour ahead
    ClockBack,     // and back
    HoldBriefly,   // the user suspends a job and lets it go before its pods are gone
    HoldLong,      // and after
    NodeAway,      // a node cannot be reached for a minute: nothing happens to its pods
    NodeEvicted,   // for so long that its pods are told to go, which they do when it is back
    NodeRemoved,   // for ever: its processes have ended when its pods are collected
  };
  Kind kind = Kind::None;
  std::size_t at = 0;
};

inline constexpr std::array kFaultsOfTheWire = {
    Fault::Kind::CrashBefore, Fault::Kind::CrashAfter,    Fault::Kind::DropEvent,
    Fault::Kind::RepeatEvent, Fault::Kind::DelayEvent,    Fault::Kind::CutWatch,
    Fault::Kind::ExpireWatch, Fault::Kind::Conflict,      Fault::Kind::TooManyRequests,
    Fault::Kind::ServerError, Fault::Kind::TimeoutBefore, Fault::Kind::TimeoutAfter};
inline constexpr std::array kDisturbances = {Fault::Kind::ClockForward, Fault::Kind::ClockBack,
                                             Fault::Kind::HoldBriefly,  Fault::Kind::HoldLong,
                                             Fault::Kind::NodeAway,     Fault::Kind::NodeEvicted,
                                             Fault::Kind::NodeRemoved};

inline bool is_disturbance(Fault::Kind kind) {
  return kind >= Fault::Kind::ClockForward;
}
inline bool is_clock(Fault::Kind kind) {
  return kind == Fault::Kind::ClockForward || kind == Fault::Kind::ClockBack;
}
inline bool is_hold(Fault::Kind kind) {
  return kind == Fault::Kind::HoldBriefly || kind == Fault::Kind::HoldLong;
}
inline bool is_node_loss(Fault::Kind kind) {
  return kind >= Fault::Kind::NodeAway;
}
std::string_view to_string(Fault::Kind kind);

}  // namespace muster::simulation
