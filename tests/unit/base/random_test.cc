#include "base/random.h"

#include <gtest/gtest.h>

#include <set>

namespace muster {
namespace {

TEST(Random, TheSameSeedGivesTheSameNumbers) {
  SeededRng first(7);
  SeededRng second(7);
  SeededRng other(8);
  const auto number = first.next();
  EXPECT_EQ(number, second.next());
  EXPECT_NE(number, other.next());
}

TEST(Random, StaysInItsRange) {
  SeededRng rng(1);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1'000; ++i) {
    const auto number = rng.below(6);
    ASSERT_LT(number, 6U);
    seen.insert(number);
    const double unit = rng.unit();
    ASSERT_GE(unit, 0);
    ASSERT_LT(unit, 1);
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(Random, UuidsHaveVersionAndVariant) {
  SeededRng rng(3);
  std::set<std::string> seen;
  std::set<std::string> first_groups;
  for (int i = 0; i < 1'000; ++i) {
    const std::string uuid = make_uuid(rng);
    ASSERT_EQ(uuid.size(), 36U);
    for (const std::size_t dash : {8U, 13U, 18U, 23U}) ASSERT_EQ(uuid[dash], '-') << uuid;
    ASSERT_EQ(uuid[14], '4') << uuid;
    ASSERT_TRUE(std::string_view("89ab").contains(uuid[19])) << uuid;
    ASSERT_EQ(uuid.find_first_not_of("0123456789abcdef-"), std::string::npos) << uuid;
    ASSERT_TRUE(seen.insert(uuid).second);
    first_groups.insert(uuid.substr(0, 8));
  }
  EXPECT_GT(first_groups.size(), 990U);
}

TEST(Random, NameSuffixesAreValidInNames) {
  SystemRng rng;
  const std::string suffix = name_suffix(rng, 5);
  EXPECT_EQ(suffix.size(), 5U);
  EXPECT_EQ(suffix.find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string::npos);
  EXPECT_NE(name_suffix(rng, 20), name_suffix(rng, 20));
}

}  // namespace
}  // namespace muster
