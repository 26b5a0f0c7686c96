#include "cluster/election.h"

#include <algorithm>
#include <utility>

#include "api/object.h"
#include "base/check.h"

namespace muster::cluster::election {
namespace {

using json::Value;

const std::string& holder(const Value& lease) {
  return lease["spec"]["holderIdentity"].as_string();
}

std::int64_t whole_seconds(Duration duration) {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

Value new_lease(const Candidate& candidate, Time wall) {
  Value lease =
      json::Object{{"apiVersion", api::leases().api_version()}, {"kind", api::leases().kind}};
  lease["metadata"]["name"] = candidate.lease.name;
  lease["metadata"]["namespace"] = candidate.lease.ns;
  Value& spec = lease["spec"];
  spec["holderIdentity"] = candidate.identity;
  spec["leaseDurationSeconds"] = whole_seconds(candidate.times.lease_duration);
  spec["acquireTime"] = format_micro_time(wall);
  spec["renewTime"] = format_micro_time(wall);
  spec["leaseTransitions"] = 0;
  return lease;
}

Value renewed(const Value& lease, const Candidate& candidate, Time wall) {
  Value next = lease;
  Value& spec = next["spec"];
  spec["holderIdentity"] = candidate.identity;
  spec["leaseDurationSeconds"] = whole_seconds(candidate.times.lease_duration);
  spec["renewTime"] = format_micro_time(wall);
  return next;
}

Value taken(const Value& lease, const Candidate& candidate, Time wall) {
  const bool changes_hands = holder(lease) != candidate.identity;
  const std::int64_t transitions = lease["spec"]["leaseTransitions"].as_int();
  Value next = renewed(lease, candidate, wall);
  if (changes_hands) {
    next["spec"]["acquireTime"] = format_micro_time(wall);
    next["spec"]["leaseTransitions"] = transitions + 1;
  }
  return next;
}

// Nobody's, and short: whoever waits may take it at once.
Value released(const Value& lease, Time wall) {
  Value next = lease;
  Value& spec = next["spec"];
  spec["holderIdentity"] = "";
  spec["leaseDurationSeconds"] = 1;
  spec["renewTime"] = format_micro_time(wall);
  spec["acquireTime"] = format_micro_time(wall);
  return next;
}

// The longer of what the holder promised and what we would: a holder with other flags is not
// robbed.
Duration patience(const Candidate& candidate, const Value& lease) {
  const auto promised =
      std::clamp<std::int64_t>(lease["spec"]["leaseDurationSeconds"].as_int(), 0, 3600);
  return std::max<Duration>(std::chrono::seconds(promised), candidate.times.lease_duration);
}

// Steps of one candidate at one moment, one function for each pair that means something.
class Stepper {
 public:
  Stepper(const Candidate& candidate, const Moment& now) : candidate_(candidate), now_(now) {}

  // Following: look, wait for the lease to stand still, take it.
  Step operator()(const Following& state, const TimerFired&) const { return {state, Read{}}; }
  Step operator()(const Following& state, const LeaseAbsent&) const {
    return {state, Create{new_lease(candidate_, now_.wall)}};
  }
  Step operator()(const Following& state, const LeaseSeen& seen) const {
    return look_at(state, *seen.lease);
  }
  Step operator()(const Following& state, const LeaseWritten& written) const {
    Leading leading{written.lease, written.sent_at};
    // The answer took so long that what it gives is used up.
    if (!may_write(candidate_.times, leading, now_.used)) return {state, Read{}};
    return {std::move(leading), Wait{candidate_.times.retry}};
  }
  Step operator()(const Following& state, const WriteRefused&) const {
    return {state, Wait{candidate_.times.retry}};
  }
  Step operator()(const Following& state, const NoAnswer&) const {
    return {state, Wait{candidate_.times.retry}};
  }
  Step operator()(const Following&, const StopAsked&) const { return {Over{}, End{}}; }

  // Leading: renew from what we wrote last; the deadline was checked before.
  Step operator()(const Leading& state, const TimerFired&) const {
    return {state, Update{renewed(*state.lease, candidate_, now_.wall)}};
  }
  // Somebody removed the lease: another may have made it anew and lead already.
  Step operator()(const Leading&, const LeaseAbsent&) const { return {Over{}, End{}}; }
  Step operator()(const Leading& state, const LeaseSeen& seen) const {
    if (holder(*seen.lease) != candidate_.identity) return {Over{}, End{}};
    // Our own write of which no answer came: go on from there.
    return {state, Update{renewed(*seen.lease, candidate_, now_.wall)}};
  }
  Step operator()(const Leading&, const LeaseWritten& written) const {
    Leading next{written.lease, written.sent_at};
    if (!may_write(candidate_.times, next, now_.used)) return {Over{}, End{}};
    return {std::move(next), Wait{candidate_.times.retry}};
  }
  Step operator()(const Leading& state, const WriteRefused&) const { return {state, Read{}}; }
  Step operator()(const Leading& state, const NoAnswer&) const {
    const Duration left = state.renewed_at + candidate_.times.renew_deadline - now_.used;
    // Sooner than usual: the deadline is near. What happened to the write is seen by reading.
    return {state, Wait{std::min(candidate_.times.retry / 2, left)}};
  }
  Step operator()(const Leading& state, const StopAsked&) const {
    return {Releasing{}, Update{released(*state.lease, now_.wall)}};
  }

  // One try: if it fails, the lease runs out by itself.
  template <class Any>
  Step operator()(const Releasing&, const Any&) const {
    return {Over{}, End{}};
  }
  template <class Any>
  Step operator()(const Over&, const Any&) const {
    return {Over{}, End{}};
  }

 private:
  Step look_at(Following state, const Value& lease) const {
    const std::string& version = api::resource_version_of(lease);
    if (state.version != version) state = Following{.version = version, .since = now_.monotonic};
    const bool free = holder(lease).empty() || holder(lease) == candidate_.identity;
    const Duration stood_still = now_.monotonic - state.since;
    const Duration needed = patience(candidate_, lease);
    if (free || stood_still >= needed) return {state, Update{taken(lease, candidate_, now_.wall)}};
    return {state, Wait{std::min(candidate_.times.retry, needed - stood_still)}};
  }

  const Candidate& candidate_;
  const Moment& now_;
};

}  // namespace

bool may_write(const Times& times, const State& state, Monotonic used) {
  const auto* leading = std::get_if<Leading>(&state);
  return leading != nullptr && used < leading->renewed_at + times.renew_deadline;
}

Step step(const Candidate& candidate, const State& state, const Observation& observed,
          const Moment& now) {
  CHECK(candidate.times.renew_deadline < candidate.times.lease_duration);
  // Whatever was learned: a leader past its deadline is none, unless a later renewal is what it
  // learned.
  const bool late =
      std::holds_alternative<Leading>(state) && !may_write(candidate.times, state, now.used);
  if (late && !std::holds_alternative<LeaseWritten>(observed)) return {Over{}, End{}};
  return std::visit(Stepper(candidate, now), state, observed);
}

std::string holder_of(const json::Value& lease, Time now) {
  const std::string& identity = holder(lease);
  const auto renewed_at = api::time_at(lease["spec"]["renewTime"]);
  if (identity.empty() || !renewed_at) return {};
  const auto promised =
      std::clamp<std::int64_t>(lease["spec"]["leaseDurationSeconds"].as_int(15), 1, 3600);
  // Clocks of two machines differ; half a minute more than promised is given.
  return now < *renewed_at + std::chrono::seconds(promised + 30) ? identity : std::string();
}

}  // namespace muster::cluster::election
