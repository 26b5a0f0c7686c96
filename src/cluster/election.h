#pragma once

#include <string>
#include <variant>

#include "api/resource.h"
#include "base/time.h"
#include "json/value.h"

// Leader election by Lease as a pure state machine: what was learned and the time go in, the next
// state and what to do come out. leader.h is the thin loop around it.
//
// Safety rests on our own clocks only. We lead until `renew_deadline` after the moment the last
// accepted write was *sent*, counted by whichever clock says that more time has passed. Others take
// over no earlier than `lease_duration` after they *saw* that write, and they cannot see it before
// it was sent; renew_deadline < lease_duration does the rest. Wall-clock times in the Lease are for
// people.
namespace muster::cluster::election {

struct Times {
  Duration lease_duration = std::chrono::seconds(15);
  Duration renew_deadline = std::chrono::seconds(10);
  Duration retry = std::chrono::seconds(2);
};

struct Candidate {
  api::ObjectKey lease;  // namespace and name of the Lease
  std::string identity;  // of this process alone: host name and a random part
  Times times;
};

// --- what was learned ---
struct TimerFired {};
struct LeaseAbsent {};
struct LeaseSeen {
  api::ObjectPtr lease;
};
struct LeaseWritten {
  api::ObjectPtr lease;
  Monotonic sent_at;  // as Moment::used counts; when the request left, not when its answer came
};
struct WriteRefused {};  // somebody else wrote first
struct NoAnswer {};      // the write may or may not have happened
struct StopAsked {};
using Observation = std::variant<TimerFired, LeaseAbsent, LeaseSeen, LeaseWritten, WriteRefused,
                                 NoAnswer, StopAsked>;

// --- where we are ---
struct Following {
  std::string
      version;      // the lease's resourceVersion when it last changed, empty before the first look
  Monotonic since;  // when we first saw that version
};
struct Leading {
  api::ObjectPtr lease;  // as last written by us
  Monotonic renewed_at;  // as Moment::used counts
};
struct Releasing {};
// The end: we led and do no more, or never did.
struct Over {};
using State = std::variant<Following, Leading, Releasing, Over>;

// --- what to do next ---
struct Read {};
struct Create {
  json::Value lease;
};
struct Update {
  json::Value lease;
};
struct Wait {
  Duration duration;
};
struct End {};
using Action = std::variant<Read, Create, Update, Wait, End>;

// What the time is: `monotonic` may count too little (a machine that was paused), `used` may count
// too much (a wall clock that was set). How long another's lease stood still goes by the one, how
// long our own may be used by the other.
struct Moment {
  Monotonic monotonic;
  Monotonic used;
  Time wall;
};

struct Step {
  State state;
  Action action;
};
Step step(const Candidate& candidate, const State& state, const Observation& observed,
          const Moment& now);

// True while no other process can lead. The answer is good for the instant it was given: ask right
// before each request is sent, never once for several.
bool may_write(const Times& times, const State& state, Monotonic used);

// Who holds a Lease that is not ours, judged by its wall-clock times; empty when nobody does.
std::string holder_of(const json::Value& lease, Time now);

}  // namespace muster::cluster::election
