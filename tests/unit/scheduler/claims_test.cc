#include <gmock/gmock.h>

#include "json/read.h"
#include "scheduler/place.h"

namespace muster::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const NodeView kNode{.name = "n", .usable = true, .allocatable = {{"pods", api::Quantity::of(10)}}};

PodView pod(const char* name, std::set<std::string> claims, const char* gang = "") {
  return {.key = {.ns = "default", .name = name},
          .uid = name,
          .gang = gang,
          .gang_size = *gang == '\0' ? 1 : 2,
          .requests = {{"pods", api::Quantity::of(1)}},
          .claims = std::move(claims)};
}

ClaimView claim(const char* name, bool bound, const char* ns = "default") {
  return {.key = {.ns = ns, .name = name}, .bound = bound};
}

std::vector<std::string> refusals(const Placement& placement) {
  std::vector<std::string> out;
  for (const auto& refused : placement.refused) out.push_back(refused.message);
  return out;
}

TEST(Claims, APodWaitsUntilItsClaimsAreBound) {
  EXPECT_THAT(refusals(place({kNode}, {pod("a", {"data"})})),
              ElementsAre("0/1 nodes are available: persistentvolumeclaim \"data\" not found."));
  EXPECT_THAT(refusals(place({kNode}, {pod("a", {"data"})}, {claim("data", true, "other")})),
              ElementsAre("0/1 nodes are available: persistentvolumeclaim \"data\" not found."));
  EXPECT_THAT(refusals(place({kNode}, {pod("a", {"data"})}, {claim("data", false)})),
              ElementsAre("0/1 nodes are available: pod has unbound immediate "
                          "PersistentVolumeClaims: \"data\"."));
  auto leaving = claim("data", true);
  leaving.deleting = true;
  EXPECT_THAT(refusals(place({kNode}, {pod("a", {"data"})}, {leaving})),
              ElementsAre("0/1 nodes are available: persistentvolumeclaim \"data\" is being "
                          "deleted."));
  const auto placed = place({kNode}, {pod("a", {"data"})}, {claim("data", true)});
  EXPECT_EQ(placed.bindings.size(), 1U);
  EXPECT_THAT(placed.refused, IsEmpty());
}

TEST(Claims, AGangWaitsAsAWholeAndOthersDoNot) {
  const auto placed =
      place({kNode}, {pod("a", {"data"}, "g"), pod("b", {}, "g"), pod("c", {})}, {});
  ASSERT_EQ(placed.bindings.size(), 1U);
  EXPECT_EQ(placed.bindings[0].key.name, "c");
  EXPECT_EQ(placed.refused.size(), 2U);
}

TEST(Claims, AreReadFromPodsAndClaims) {
  const auto seen = PodView::from(*json::read(R"({"spec":{"volumes":[
      {"name":"v","persistentVolumeClaim":{"claimName":"data"}},{"name":"w","emptyDir":{}}]}})"));
  EXPECT_THAT(seen.claims, ElementsAre("data"));
  EXPECT_TRUE(ClaimView::from(*json::read(R"({"status":{"phase":"Bound"}})")).bound);
  EXPECT_FALSE(ClaimView::from(*json::read(R"({"status":{"phase":"Lost"}})")).bound);
}

}  // namespace
}  // namespace muster::scheduler
