#include "plan/index_counts.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace muster::plan {
namespace {

std::string text(const IndexCounts& counts) {
  std::string out;
  for (const auto& [count, indexes] : counts.groups())
    out += std::to_string(count) + ":" + indexes.text() + " ";
  return out;
}

TEST(IndexCounts, RanksThatShareANumberAreOneRun) {
  IndexCounts counts;
  for (int index = 0; index < 10; ++index) counts.set(index, 1);
  EXPECT_EQ(text(counts), "1:0-9 ");
  EXPECT_EQ(counts.sum(), 10);
  counts.set(4, 3);
  EXPECT_EQ(text(counts), "1:0-3,5-9 3:4 ");
  counts.set(4, 1);
  EXPECT_EQ(counts, IndexCounts::from({{1, IndexSet::parse("0-9")}})) << "joined again";
}

TEST(IndexCounts, AZeroIsNothing) {
  IndexCounts counts{{3, 2}, {7, 1}};
  EXPECT_EQ(counts.at(3), 2);
  EXPECT_EQ(counts.at(5), 0);
  counts.set(3, 0);
  counts.set(7, 0);
  EXPECT_TRUE(counts.empty());
}

TEST(IndexCounts, WhoIsInTwoGroupsHasTheFirst) {
  const IndexCounts counts =
      IndexCounts::from({{1, IndexSet::parse("0-5")}, {2, IndexSet::parse("3,8")}});
  EXPECT_EQ(text(counts), "1:0-5 2:8 ");
}

TEST(IndexCounts, IsAMapWhateverHappensToIt) {
  std::mt19937 random(1);
  std::map<int, std::int64_t> model;
  IndexCounts counts;
  for (int step = 0; step < 5'000; ++step) {
    const int index = static_cast<int>(random() % 40);
    const std::int64_t count = random() % 4;
    counts.set(index, count);
    model[index] = count;
    std::int64_t sum = 0;
    for (const auto& [at, expected] : model) {
      ASSERT_EQ(counts.at(at), expected) << "index " << at << " after step " << step;
      sum += expected;
    }
    ASSERT_EQ(counts.sum(), sum);
    ASSERT_EQ(IndexCounts::from(counts.groups()), counts) << "after step " << step;
  }
}

}  // namespace
}  // namespace muster::plan
