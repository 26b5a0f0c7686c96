// Two faults in one run, and three jobs in one cluster: too many ways to go through all of them,
// but for the smallest story.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "campaign.h"

namespace muster::simulation {
namespace {

using Kind = Fault::Kind;

constexpr std::size_t kLots = 8;  // so that several processes can share the work
constexpr std::size_t kPairs = 250;
constexpr std::size_t kMixes = 40;

void report(const std::string& run, const std::vector<Fault>& faults, std::uint64_t seed,
            const std::vector<std::string>& broken) {
  if (broken.empty()) return;
  std::vector<std::string> told;
  for (const Fault& fault : faults) {
    told.push_back(fmt::format("{} at {}", to_string(fault.kind), fault.at));
  }
  ADD_FAILURE() << run << ", seed " << seed << ", " << join(told, " and ") << ":\n"
                << join(broken, "\n");
}

template <class Kinds>
Kind any_of(Rng& rng, const Kinds& kinds) {
  return kinds[rng.below(kinds.size())];
}

// Of whatever kind, anywhere: recovery from a first fault makes more calls than were made without.
Fault any_fault(Rng& rng, const RunResult& reference) {
  const Kind kind = rng.below(3) == 0 ? any_of(rng, kDisturbances) : any_of(rng, kFaultsOfTheWire);
  const std::size_t found = places(kind, reference);
  return fault_at(kind, 1 + rng.below(found + found / 2 + 1), reference);
}

// Those whose users hold nothing themselves and wait for nothing but the job.
std::vector<const Workload*> simple_ones() {
  std::vector<const Workload*> all;
  for (const char* name :
       {"create", "restart", "disruption", "success", "failure", "ttl", "barrier", "completions",
        "queue", "master_retry", "master_workers", "launcher", "launcher_failure"}) {
    all.push_back(&workload(name));
  }
  return all;
}

class Swarm : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Swarm, TwoFaultsInARun) {
  const auto stories = simple_ones();
  std::map<const Workload*, RunResult> references;
  for (std::size_t i = 0; i < kPairs * scale(); ++i) {
    const std::uint64_t seed = 1 + i * kLots + GetParam();
    SeededRng rng(seed);
    const Workload& story = *stories[rng.below(stories.size())];
    if (!references.contains(&story)) references[&story] = simulate(story, {});
    const RunResult& reference = references[&story];
    const std::vector<Fault> faults = {any_fault(rng, reference), any_fault(rng, reference)};
    const RunResult run = simulate(story, {.faults = faults});
    report(story.name, faults, 1, judge(story, reference, run, faults));
  }
}

// Each ends as it would alone.
TEST_P(Swarm, ThreeJobsAtOnce) {
  const auto stories = simple_ones();
  for (std::size_t i = 0; i < kMixes * scale(); ++i) {
    const std::uint64_t seed = 1 + i * kLots + GetParam();
    SeededRng rng(seed);
    std::vector<const Workload*> three;
    std::vector<std::string> names;
    while (three.size() < 3) {
      three.push_back(stories[rng.below(stories.size())]);
      names.push_back(three.back()->name);
    }
    const RunResult reference = simulate(three, {.seed = seed});
    report(join(names, " + "), {}, seed, reference.violations);
    const std::vector<Fault> faults = {any_fault(rng, reference), any_fault(rng, reference)};
    report(join(names, " + "), faults, seed,
           simulate(three, {.faults = faults, .seed = seed}).violations);
  }
}

INSTANTIATE_TEST_SUITE_P(Lot, Swarm, ::testing::Range<std::size_t>(0, kLots));

class Pairs : public ::testing::TestWithParam<Kind> {};

// Every fault with every later one of the smallest story: one pod that succeeds.
TEST_P(Pairs, EveryTwoFaultsOfTheSmallest) {
  const Workload& story = workload("single");
  const RunResult reference = simulate(story, {});
  std::size_t runs = 0;
  for (std::size_t at = 1; at <= places(GetParam(), reference); ++at) {
    for (const Kind other : kFaultsOfTheWire) {
      if (other < GetParam()) continue;  // those two are another test's
      for (std::size_t then = other == GetParam() ? at + 1 : 1; then <= places(other, reference);
           ++then) {
        const std::vector<Fault> faults = {{GetParam(), at}, {other, then}};
        ++runs;
        report(story.name, faults, 1,
               judge(story, reference, simulate(story, {.faults = faults}), faults));
        if (HasFailure()) return;
      }
    }
  }
  fmt::print("{} and any other: {} runs\n", to_string(GetParam()), runs);
}

INSTANTIATE_TEST_SUITE_P(First, Pairs, ::testing::ValuesIn(kFaultsOfTheWire),
                         [](const auto& tested) {
                           return fmt::format("Kind{}", static_cast<int>(tested.param));
                         });

}  // namespace
}  // namespace muster::simulation
