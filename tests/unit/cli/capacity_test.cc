#include "cli/cluster/capacity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

TEST(Capacity, TakesExtendedResources) {
  const auto parsed = parse_capacity("nvidia.com/gpu=4");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->first, "nvidia.com/gpu");
  EXPECT_EQ(parsed->second, 4);
  EXPECT_TRUE(parse_capacity("huawei.com/Ascend910=8"));
}

TEST(Capacity, SaysWhatWouldBeRight) {
  for (const char* text : {"", "4", "nvidia.com/gpu", "gpu=4", "cpu=4", "memory=1Gi",
                           "kubernetes.io/x=1", "node.kubernetes.io/x=1", "a b/c=1"}) {
    const auto parsed = parse_capacity(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, ::testing::HasSubstr("nvidia.com/gpu")) << text;
  }
  for (const char* text : {"nvidia.com/gpu=", "nvidia.com/gpu=-1", "nvidia.com/gpu=0",
                           "nvidia.com/gpu=1.5", "nvidia.com/gpu=many"}) {
    const auto parsed = parse_capacity(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().message, ::testing::HasSubstr("a number of them")) << text;
  }
}

}  // namespace
}  // namespace muster::cli
