#include "plan/index_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace muster::plan {
namespace {

using ::testing::ElementsAre;

IndexSet of(std::initializer_list<int> indexes) {
  IndexSet set;
  for (const int index : indexes) set.insert(index);
  return set;
}

TEST(IndexSet, IsWrittenAsRanges) {
  EXPECT_EQ(of({}).text(), "");
  EXPECT_EQ(of({7}).text(), "7");
  EXPECT_EQ(of({3, 1, 2, 7, 2}).text(), "1-3,7");
  EXPECT_EQ(of({1, 3, 2}).text(), "1-3") << "a gap that is filled joins its neighbours";
}

TEST(IndexSet, ReadsWhatItWrote) {
  for (const char* text : {"", "0", "0-9999", "0,2,4-7"}) {
    EXPECT_EQ(IndexSet::parse(text).text(), text);
  }
  EXPECT_THAT(IndexSet::parse("0,4-6").values(), ElementsAre(0, 4, 5, 6));
  EXPECT_EQ(IndexSet::parse("0-3,4-5").text(), "0-5");
}

TEST(IndexSet, LeavesOutWhatItCannotRead) {
  EXPECT_EQ(IndexSet::parse("x,-3,5-2,7,1,99999999999").text(), "7");
}

TEST(IndexSet, LosesIndexesFromAnyPlace) {
  IndexSet set = IndexSet::parse("0-9");
  set.erase(0);
  set.erase(9);
  set.erase(5);
  set.erase(5);
  EXPECT_EQ(set.text(), "1-4,6-8");
  set.erase_from(7);
  EXPECT_EQ(set.text(), "1-4,6");
  set.erase(6);
  set.erase_from(0);
  EXPECT_TRUE(set.empty());
}

TEST(IndexSet, HoldsWhatASetOfNumbersHolds) {
  IndexSet set;
  std::set<int> plain;
  std::uint32_t random = 1;
  for (int i = 0; i < 5'000; ++i) {
    random = random * 1'664'525U + 1'013'904'223U;
    const int index = static_cast<int>((random >> 8U) % 64);
    if ((random & 0x80U) != 0) {
      set.insert(index);
      plain.insert(index);
    } else {
      set.erase(index);
      plain.erase(index);
    }
    ASSERT_EQ(set.contains(index), plain.contains(index));
    ASSERT_EQ(set.values(), std::vector<int>(plain.begin(), plain.end()));
    ASSERT_EQ(IndexSet::parse(set.text()), set);
  }
}

}  // namespace
}  // namespace muster::plan
