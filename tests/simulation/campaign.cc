#include "campaign.h"

#include <algorithm>

#include <fmt/format.h>

namespace muster::simulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// L1: what one fault may cost.
constexpr std::size_t kMostRelists = 3;

std::vector<std::string> sorted(std::vector<std::string> names) {
  std::ranges::sort(names);
  return names;
}

}  // namespace

Tolerance tolerance(Fault::Kind kind) {
  using Compare = Tolerance::Compare;
  switch (kind) {
    case Fault::Kind::None:
      return {.slack = seconds(2)};
    case Fault::Kind::DropEvent:
      return {Compare::Essence, minutes(11)};
    case Fault::Kind::DelayEvent:
      return {Compare::Essence, seconds(15)};
    case Fault::Kind::RepeatEvent:
      return {.slack = seconds(2)};
    default:
      return {.slack = seconds(60)};
  }
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
      return reference.writes;
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
                               const RunResult& run, Fault::Kind kind) {
  std::vector<std::string> broken = run.violations;
  const Tolerance allowed = tolerance(kind);
  const bool everything = allowed.compare == Tolerance::Compare::Everything && !workload.racy;
  const std::string& wanted = everything ? reference.end_state : reference.essence;
  const std::string& got = everything ? run.end_state : run.essence;
  if (got != wanted) broken.push_back("O1: the end differs: " + difference(got, wanted));
  if (!workload.racy &&
      (sorted(run.created) != sorted(reference.created) || run.deleted != reference.deleted)) {
    broken.push_back(fmt::format("O1: {} created and {} deleted instead of {} and {}",
                                 run.created.size(), run.deleted, reference.created.size(),
                                 reference.deleted));
  }
  if (run.converged > reference.converged + allowed.slack) {
    broken.push_back(fmt::format("L1: done after {} s instead of {} s",
                                 std::chrono::duration_cast<seconds>(run.converged).count(),
                                 std::chrono::duration_cast<seconds>(reference.converged).count()));
  }
  if (run.relists > kMostRelists) {
    broken.push_back(fmt::format("L1: a kind was listed {} times", run.relists));
  }
  return broken;
}

Tally strike_everywhere(const Workload& workload, const RunResult& reference, Fault::Kind kind,
                        const Hunt& hunt) {
  Tally tally{.found = places(kind, reference)};
  for (std::size_t at = 1; at <= tally.found; ++at) {
    const RunResult run =
        simulate(workload, {.fault = {.kind = kind, .at = at}, .mutant = hunt.mutant});
    if (run.struck) ++tally.run;
    for (const std::string& broken : judge(workload, reference, run, kind)) {
      tally.violations.push_back(
          fmt::format("{}: {} at {}: {}", workload.name, to_string(kind), at, broken));
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
