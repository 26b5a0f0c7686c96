#include "trainer/node_id.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace muster::trainer {
namespace {

TEST(NodeIdTest, RanksFollowNamesWithNumbersAsNumbers) {
  std::vector<std::string> ids = {"job-worker-10", "job-worker-2", "job-worker-1", "job-worker-0",
                                  "another-3",     "job-worker",   "12",           "7"};
  std::ranges::sort(ids, comes_before);
  EXPECT_EQ(ids, (std::vector<std::string>{"7", "12", "another-3", "job-worker", "job-worker-0",
                                           "job-worker-1", "job-worker-2", "job-worker-10"}));
}

TEST(NodeIdTest, OrderIsStrictEvenWhereNumbersAreEqual) {
  EXPECT_TRUE(comes_before("w-01", "w-1") != comes_before("w-1", "w-01"));
  EXPECT_FALSE(comes_before("w-1", "w-1"));
}

TEST(NodeIdTest, NumbersMayExceedEveryInteger) {
  EXPECT_TRUE(comes_before("w-99999999999999999999999999", "w-100000000000000000000000000"));
}

TEST(NodeIdTest, AcceptsPodNamesOnly) {
  for (const char* good : {"job-worker-0", "a", "A_b.c-1", "17"}) {
    EXPECT_TRUE(is_node_id(good)) << good;
  }
  for (const char* bad : {"", "a b", "a/b", "..", ".hidden", "a=b", "a,b", "a\n", "\xc3\xa4"}) {
    EXPECT_FALSE(is_node_id(bad)) << bad;
  }
  EXPECT_TRUE(is_node_id(std::string(253, 'x')));
  EXPECT_FALSE(is_node_id(std::string(254, 'x')));
}

}  // namespace
}  // namespace muster::trainer
