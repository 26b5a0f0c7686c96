#include "campaign.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/strings.h"

namespace muster::simulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// L1: what a fault may cost; and how often lists are made while an hour is waited for.
constexpr std::size_t kMostRelists = 3;
constexpr std::size_t kRelistsOfAnHour = 8;

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::ranges::sort(names);
  return names;
}

// A job that is to end or go at a time of day.
bool is_timed(const json::Value& job) {
  const json::Value& policy = job["spec"]["runPolicy"];
  return policy["activeDeadlineSeconds"].is_number() ||
         policy["ttlSecondsAfterFinished"].is_number();
}

Tolerance tolerance_of(const Workload& workload, Fault::Kind kind) {
  using Compare = Tolerance::Compare;
  switch (kind) {
    case Fault::Kind::None:
    case Fault::Kind::RepeatEvent:
      return {};
    case Fault::Kind::DropEvent:
      return {Compare::Essence, minutes(11)};
    case Fault::Kind::DelayEvent:
      return {Compare::Essence, seconds(15)};
    case Fault::Kind::ClockForward:
    case Fault::Kind::ClockBack:
      if (is_timed(workload.job)) return {Compare::Phase, minutes(61), kRelistsOfAnHour};
      return {Compare::Essence, seconds(60)};
    case Fault::Kind::HoldBriefly:
    case Fault::Kind::HoldLong:
      return {.compare = Compare::Phase, .slack = minutes(2), .anew = true};
    case Fault::Kind::NodeAway:
    case Fault::Kind::NodeEvicted:
    case Fault::Kind::NodeRemoved:
      return {.compare = Compare::Phase, .slack = minutes(20), .anew = true};
    default:
      return {.slack = seconds(60)};
  }
}

}  // namespace

Tolerance tolerance(const Workload& workload, const std::vector<Fault>& faults) {
  Tolerance all{.slack = seconds(2)};
  for (const Fault& fault : faults) {
    const Tolerance one = tolerance_of(workload, fault.kind);
    all.compare = std::max(all.compare, one.compare);
    all.slack += one.slack;
    all.relists += one.relists + kMostRelists;
    all.anew = all.anew || one.anew;
  }
  return all;
}

Fault fault_at(Fault::Kind kind, std::size_t place, const RunResult& reference) {
  return {.kind = kind, .at = place + (is_disturbance(kind) ? reference.early_calls : 0)};
}

std::size_t scale() {
  const char* wanted = std::getenv("MUSTER_SIMULATION");
  return wanted == nullptr ? 1 : static_cast<std::size_t>(parse_int(wanted).value_or(1));
}

std::size_t places(Fault::Kind kind, const RunResult& reference) {
  switch (kind) {
    case Fault::Kind::None:
      return 0;
    case Fault::Kind::CrashBefore:
    case Fault::Kind::CrashAfter:
      return reference.calls;
    case Fault::Kind::DropEvent:
    case Fault::Kind::RepeatEvent:
    case Fault::Kind::DelayEvent:
    case Fault::Kind::CutWatch:
    case Fault::Kind::ExpireWatch:
      return reference.events;
    default:
      return is_disturbance(kind) ? reference.calls - reference.early_calls : reference.writes;
  }
}

std::string difference(const std::string& got, const std::string& wanted) {
  if (got == wanted) return "";
  const auto parted = std::ranges::mismatch(got, wanted);
  const auto at = static_cast<std::size_t>(parted.in1 - got.begin());
  const std::size_t from = at < 80 ? 0 : at - 80;
  return fmt::format("…{}… instead of …{}…", got.substr(from, 240), wanted.substr(from, 240));
}

std::vector<std::string> judge(const Workload& workload, const RunResult& reference,
                               const RunResult& run, const std::vector<Fault>& faults) {
  std::vector<std::string> broken = run.violations;
  const Tolerance allowed = tolerance(workload, faults);
  const bool compared = allowed.compare != Tolerance::Compare::Phase;
  const bool everything = allowed.compare == Tolerance::Compare::Everything && !workload.racy;
  const std::string& wanted = everything ? reference.end_state : reference.essence;
  const std::string& got = everything ? run.end_state : run.essence;
  if (compared && got != wanted)
    broken.push_back("O1: the end differs: " + difference(got, wanted));
  if (compared && !workload.racy &&
      (sorted(run.created) != sorted(reference.created) || run.deleted != reference.deleted)) {
    broken.push_back(fmt::format("O1: {} created and {} deleted instead of {} and {}",
                                 run.created.size(), run.deleted, reference.created.size(),
                                 reference.deleted));
  }
  const Duration again = allowed.anew ? reference.converged : Duration::zero();
  if (run.converged > std::max(reference.converged, run.last_struck) + again + allowed.slack) {
    broken.push_back(fmt::format("L1: done after {} s instead of {} s",
                                 std::chrono::duration_cast<seconds>(run.converged).count(),
                                 std::chrono::duration_cast<seconds>(reference.converged).count()));
  }
  if (run.relists > allowed.relists) {
    broken.push_back(fmt::format("L1: a kind was listed {} times", run.relists));
  }
  return broken;
}

Tally strike_everywhere(const Workload& workload, const RunResult& reference, Fault::Kind kind,
                        const Hunt& hunt) {
  Tally tally{.found = places(kind, reference)};
  for (std::size_t at = 1; at <= tally.found; ++at) {
    const std::vector<Fault> faults = {fault_at(kind, at, reference)};
    const RunResult run = simulate(workload, {.faults = faults, .mutant = hunt.mutant});
    tally.run += run.struck.size();
    for (const std::string& broken : judge(workload, reference, run, faults)) {
      tally.violations.push_back(
          fmt::format("{}: {} at {}: {}", workload.name, to_string(kind), faults[0].at, broken));
    }
    if (hunt.mutant != nullptr && breaks(tally.violations, hunt.invariant)) break;
  }
  return tally;
}

bool breaks(const std::vector<std::string>& violations, const std::string& invariant) {
  return std::ranges::any_of(violations, [&](const std::string& violation) {
    return violation.find(invariant + ": ") != std::string::npos;
  });
}

}  // namespace muster::simulation
