#include <gmock/gmock.h>

#include "json/read.h"
#include "scheduler/place.h"

namespace muster::scheduler {
namespace {

NodeView node(const char* name) {
  auto object = *json::read(R"({"status":{"conditions":[{"type":"Ready","status":"True"}],
      "allocatable":{"cpu":"8","pods":"10"}}})");
  object["metadata"]["name"] = name;
  return NodeView::from(object);
}

PodView pod(const char* name, const char* ports, const char* placed = "",
            bool host_network = true) {
  auto object = *json::read(R"({"metadata":{"namespace":"default"},"spec":{}})");
  object["metadata"]["name"] = name;
  object["metadata"]["uid"] = name;
  object["spec"]["nodeName"] = placed;
  object["spec"]["hostNetwork"] = host_network;
  json::Value container;
  container["ports"] = *json::read(ports);
  object["spec"]["containers"] = json::Array{container};
  return PodView::from(object);
}

std::string outcome(const std::vector<NodeView>& nodes, const std::vector<PodView>& pods) {
  const auto placement = place(nodes, pods);
  std::string out;
  for (const auto& binding : placement.bindings) out += binding.key.name + "→" + binding.node + " ";
  for (const auto& refused : placement.refused) out += refused.key.name + ": " + refused.message;
  return out;
}

TEST(HostPorts, APortOfTheHostIsOnePodsAtATime) {
  const char* port = R"([{"hostPort":80,"protocol":"TCP"}])";
  EXPECT_EQ(outcome({node("n")}, {pod("a", port, "n"), pod("b", port)}),
            "b: 0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod "
            "ports.");
  EXPECT_EQ(outcome({node("m"), node("n")}, {pod("a", port, "m"), pod("b", port)}), "b→n ");
}

TEST(HostPorts, TwoWaitingPodsDoNotGetTheSameOne) {
  const char* port = R"([{"hostPort":80}])";
  EXPECT_THAT(outcome({node("n")}, {pod("a", port), pod("b", port)}),
              ::testing::StartsWith("a→n b: 0/1"));
}

TEST(HostPorts, OtherPortsProtocolsAndNetworksDoNotCollide) {
  const char* port = R"([{"hostPort":80,"protocol":"TCP"}])";
  EXPECT_EQ(outcome({node("n")},
                    {pod("a", port, "n"), pod("b", R"([{"hostPort":81}])"),
                     pod("c", R"([{"hostPort":80,"protocol":"UDP"}])"), pod("d", port, "", false)}),
            "b→n c→n d→n ");
}

}  // namespace
}  // namespace muster::scheduler
