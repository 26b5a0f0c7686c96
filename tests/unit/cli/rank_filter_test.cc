#include "cli/jobs/rank_filter.h"

#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(RankFilter, MatchesRoleInAnyCaseAndRanks) {
  EXPECT_TRUE(RankFilter{}.accepts("Worker", 7));
  EXPECT_TRUE((RankFilter{.role = "worker", .ranks = {1}}.accepts("Worker", 1)));
  EXPECT_FALSE((RankFilter{.role = "worker"}.accepts("PS", 1)));
  EXPECT_FALSE((RankFilter{.ranks = {1}}.accepts("Worker", 2)));
}

}  // namespace
}  // namespace muster::cli
