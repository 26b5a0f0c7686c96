#include "unit/node/fixture.h"

namespace muster::node {
namespace {

// What a pod is on its way to takes milliseconds, and a write of its own for each step of it is
// most of what a short pod costs.
TEST_F(NodeTest, APodThatStartsAtOnceIsWrittenOfWhenItRunsAndWhenItEnded) {
  start();
  const int before = cluster.status_writes;
  create(PodBuilder("p").restart("Never").container("main", "run 1 0"));
  loop.run_for(900ms);
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_EQ(cluster.status_writes - before, 1);
  loop.run_for(1s);
  EXPECT_EQ(phase("p"), "Succeeded");
  EXPECT_EQ(cluster.status_writes - before, 2);
}

TEST_F(NodeTest, ItsAddressIsToldBeforeIfWhatItRefersToMayBeMadeFromIt) {
  cluster.put(api::config_maps(),
              parse(R"({"metadata":{"name":"peers","namespace":"default"},"data":{"A":"1"}})"));
  start();
  const int before = cluster.status_writes;
  create(PodBuilder("p").container("main", "serve",
                                   R"({"envFrom":[{"configMapRef":{"name":"peers"}}]})"));
  loop.run_for(900ms);
  EXPECT_EQ(phase("p"), "Running");
  EXPECT_EQ(cluster.status_writes - before, 2);
}

TEST_F(NodeTest, APodThatTakesLongerSaysWhereItIs) {
  start();
  runtime.sandbox_takes = 60s;
  create(PodBuilder("p").container("main", "serve"));
  const auto waiting = [&] {
    return (*pod("p"))["status"]["containerStatuses"][0]["state"]["waiting"]["reason"].as_string();
  };
  loop.run_for(900ms);
  EXPECT_EQ(waiting(), "");
  loop.run_for(200ms);
  EXPECT_EQ(waiting(), "ContainerCreating");
}

TEST_F(NodeTest, APodThatIsHeldUpSaysSoAtOnce) {
  start();
  runtime.sandbox_error = Error{.code = ErrorCode::Io, .message = "no namespaces left"};
  create(PodBuilder("p").container("main", "serve"));
  loop.run_for(100ms);
  const auto& state = (*pod("p"))["status"]["containerStatuses"][0]["state"];
  EXPECT_NE(state["waiting"]["message"].as_string().find("no namespaces left"), std::string::npos);
}

}  // namespace
}  // namespace muster::node
