// One run once more, with everything that happened in it:
//   MUSTER_REPLAY='restart+create crash-after@18 node-away@40 seed@3' simulation
//   --gtest_filter=Replay*
#include <cstdlib>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "world.h"

namespace muster::simulation {
namespace {

Fault::Kind kind_named(std::string_view name) {
  for (const auto kind : kFaultsOfTheWire) {
    if (to_string(kind) == name) return kind;
  }
  for (const auto kind : kDisturbances) {
    if (to_string(kind) == name) return kind;
  }
  return Fault::Kind::None;
}

TEST(Replay, OneRun) {
  const char* wanted = std::getenv("MUSTER_REPLAY");
  if (wanted == nullptr) GTEST_SKIP() << "MUSTER_REPLAY is not set";
  const auto words = split(wanted, ' ');
  std::vector<const Workload*> stories;
  for (const auto name : split(words[0], '+')) stories.push_back(&workload(name));
  RunOptions options;
  for (const auto word : std::span(words).subspan(1)) {
    const auto parts = split(word, '@');
    const auto at = parts.size() == 2 ? parse_int(parts[1]) : std::nullopt;
    ASSERT_TRUE(at) << word << " is not FAULT@NUMBER or seed@NUMBER";
    if (parts[0] == "seed") {
      options.seed = static_cast<std::uint64_t>(*at);
    } else {
      const Fault::Kind kind = kind_named(parts[0]);
      ASSERT_NE(kind, Fault::Kind::None) << "there is no fault " << parts[0];
      options.faults.push_back({.kind = kind, .at = static_cast<std::size_t>(*at)});
    }
  }
  const RunResult run = simulate(stories, options);
  for (const std::string& line : run.history) fmt::print("{}\n", line);
  EXPECT_EQ(join(run.violations, "\n"), "");
}

}  // namespace
}  // namespace muster::simulation
