#include <gmock/gmock.h>

#include "node/pod/container/container_spec.h"
#include "unit/node/fixture.h"

namespace muster::node {
namespace {

class AgentProgram : public ::testing::Test {
 protected:
  Result<ContainerSpec> spec(std::string_view container) {
    const auto pod = parse(R"j({"metadata":{"name":"p","namespace":"ns","uid":"u"},"spec":{}})j");
    const auto parsed = parse(container);
    return container_spec({.pod = pod,
                           .container = parsed,
                           .place = {},
                           .options = options,
                           .services = {},
                           .lookup = [](const Reference&) { return nullptr; },
                           .volumes = {{"v", {.path = "/data"}}},
                           .gpus = {}});
  }

  NodeOptions options;
};

TEST_F(AgentProgram, IsInEveryContainerAndTheirOwnMountsMayCoverIt) {
  options.agent_program = "/opt/muster/muster-agent";
  const auto made = spec(R"j({"name":"c","image":"i","command":["train"],
      "volumeMounts":[{"name":"v","mountPath":"/muster"}]})j");
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->mounts.size(), 2U);
  EXPECT_EQ(made->mounts[0].source, "/opt/muster/muster-agent");
  EXPECT_EQ(made->mounts[0].target, "/muster/bin/muster-agent");
  EXPECT_TRUE(made->mounts[0].read_only);
  EXPECT_EQ(made->mounts[1].target, "/muster");
}

TEST_F(AgentProgram, OnlyWhoRunsItIsToldThatThereIsNone) {
  const auto other = spec(R"j({"name":"c","image":"i","command":["train"]})j");
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_TRUE(other->mounts.empty());
  const auto wants =
      spec(R"j({"name":"c","image":"i","command":["/muster/bin/muster-agent","paddle-legacy"]})j");
  ASSERT_FALSE(wants);
  EXPECT_EQ(
      wants.error().message,
      "this node has no /muster/bin/muster-agent: muster-agent is not beside its muster program");
}

}  // namespace
}  // namespace muster::node
