#include "node/agent/declared.h"

#include "unit/node/fixture.h"

namespace muster::node {
namespace {

json::Value condition_of(const json::Value& object) {
  for (const auto& one : object["status"]["conditions"].as_array()) {
    if (one["type"].as_string() == kDeclaredCondition) return one;
  }
  return {};
}

TEST_F(NodeTest, TheNodeSaysWhatIsOnlyDeclaredAndForgetsIt) {
  options.declared = {{"nvidia.com/gpu", 4}};
  start();
  auto node = cluster.at(api::nodes(), "", "n1");
  EXPECT_EQ((*node)["status"]["allocatable"]["nvidia.com/gpu"].as_string(), "4");
  EXPECT_EQ(api::annotation_of(*node, kDeclaredAnnotation), "nvidia.com/gpu=4");
  EXPECT_EQ(condition_of(*node)["message"].as_string(),
            "nvidia.com/gpu=4 declared with --capacity, not real: there is no such device");

  options.declared.clear();
  restart();
  node = cluster.at(api::nodes(), "", "n1");
  EXPECT_TRUE((*node)["status"]["allocatable"]["nvidia.com/gpu"].is_null());
  EXPECT_EQ(api::annotation_of(*node, kDeclaredAnnotation), "");
  EXPECT_TRUE(condition_of(*node).is_null());
}

TEST_F(NodeTest, APodThatGetsDeclaredResourcesRunsAndSaysSo) {
  options.declared = {{"nvidia.com/gpu", 4}};
  start();
  create(PodBuilder("with").container("main", "serve",
                                      R"({"resources":{"limits":{"nvidia.com/gpu":2}}})"));
  create(PodBuilder("without").container("main", "serve"));
  loop.run_for(1s);
  EXPECT_EQ(phase("with"), "Running");
  EXPECT_EQ(condition_of(*pod("with"))["status"].as_string(), "True");
  EXPECT_EQ(condition_of(*pod("with"))["message"].as_string(),
            "nvidia.com/gpu=2 declared with --capacity, not real: there is no such device");
  EXPECT_EQ(event_message(kDeclaredReason), condition_of(*pod("with"))["message"].as_string());
  EXPECT_TRUE(condition_of(*pod("without")).is_null());
}

}  // namespace
}  // namespace muster::node
