#include "trainer/ring_schedule.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace muster::trainer {
namespace {

TEST(RingScheduleTest, ChunksCoverTheVectorWithoutGapOrOverlap) {
  for (std::size_t ranks = 1; ranks <= 9; ++ranks) {
    for (const std::size_t size : {0u, 1u, 2u, 7u, 8u, 9u, 100u}) {
      std::size_t next = 0;
      for (std::size_t index = 0; index < ranks; ++index) {
        const Chunk chunk = chunk_of(size, ranks, index);
        EXPECT_EQ(chunk.first, next);
        EXPECT_LE(chunk.count, size / ranks + 1);
        next += chunk.count;
      }
      EXPECT_EQ(next, size) << ranks << " ranks";
    }
  }
}

TEST(RingScheduleTest, ARankReceivesWhatItsPredecessorSends) {
  for (std::size_t ranks = 2; ranks <= 9; ++ranks) {
    for (std::size_t round = 0; round < round_count(ranks); ++round) {
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const std::size_t previous = (rank + ranks - 1) % ranks;
        EXPECT_EQ(round_of(rank, ranks, round).received, round_of(previous, ranks, round).sent);
      }
    }
  }
}

// The whole all-reduce on plain vectors: one number for each chunk, rank r begins with 10^r in
// each.
TEST(RingScheduleTest, EveryRankEndsWithEverySum) {
  for (std::size_t ranks = 1; ranks <= 9; ++ranks) {
    std::vector<std::vector<long>> values;
    long power = 1;
    long expected = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank, power *= 10) {
      values.emplace_back(ranks, power);
      expected += power;
    }
    for (std::size_t round = 0; round < round_count(ranks); ++round) {
      const auto before = values;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const std::size_t previous = (rank + ranks - 1) % ranks;
        const Round step = round_of(rank, ranks, round);
        const long arrived = before[previous][step.received];
        values[rank][step.received] = arrived + (step.adds ? before[rank][step.received] : 0);
      }
    }
    EXPECT_EQ(values, std::vector(ranks, std::vector<long>(ranks, expected))) << ranks << " ranks";
  }
}

}  // namespace
}  // namespace muster::trainer
