#include "controller/pace.h"

#include <gtest/gtest.h>

namespace muster::controller {
namespace {

using namespace std::chrono_literals;

TEST(Pace, GrowsWithTheJobAndSmallJobsFeelNothing) {
  const std::pair<std::size_t, Duration> rows[] = {
      {0, 0s}, {1, 0s}, {9, 0s}, {10, 1ms}, {40, 4ms}, {1'000, 100ms}, {10'000, 1s},
  };
  for (const auto& [children, pause] : rows)
    EXPECT_EQ(pause_after_look(children), pause) << children;
}

}  // namespace
}  // namespace muster::controller
