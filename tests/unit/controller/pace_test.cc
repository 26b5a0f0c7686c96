#include "controller/pace.h"

#include <gtest/gtest.h>

namespace muster::controller {
namespace {

using namespace std::chrono_literals;

TEST(Pace, GrowsWithTheJobAndSmallJobsFeelNothing) {
  const std::pair<std::size_t, Duration> rows[] = {
      {0, 0s}, {1, 0s}, {8, 0s}, {39, 0s}, {40, 1ms}, {1'000, 25ms}, {10'000, 250ms},
  };
  for (const auto& [children, pause] : rows)
    EXPECT_EQ(pause_after_look(children), pause) << children;
}

}  // namespace
}  // namespace muster::controller
