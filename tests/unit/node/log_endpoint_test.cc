#include "node/logs/log_endpoint.h"

#include <fstream>

#include "unit/node/fake_responder.h"
#include "unit/node/fixture.h"

namespace muster::node {
namespace {

constexpr Time kNow = Time{} + std::chrono::seconds(1'800'000'000);

TEST(LogRequest, ReadsWhatKubectlAsksFor) {
  const auto request = parse_log_request(
      "/containerLogs/default/p-0/main?follow=true&previous=false&timestamps=1&tailLines=10"
      "&sinceSeconds=60&limitBytes=100",
      kNow);
  ASSERT_TRUE(request.has_value()) << request.error().message;
  EXPECT_EQ(request->pod.text(), "default/p-0");
  EXPECT_EQ(request->options.container, "main");
  EXPECT_TRUE(request->options.follow);
  EXPECT_FALSE(request->options.previous);
  EXPECT_TRUE(request->options.timestamps);
  EXPECT_EQ(request->options.tail_lines, 10);
  EXPECT_EQ(request->options.since_seconds, 60);
  EXPECT_EQ(request->options.limit_bytes, 100);
}

TEST(LogRequest, RefusesTheRest) {
  for (const char* target :
       {"/", "/pods", "/containerLogs/a/b", "/containerLogs/a/b/c/d", "/containerLogs//b/c",
        "/containerLogs/a/b/..", "/containerLogs/a/%2e%2e/c", "/containerLogs/a/x%2fy/c",
        "/containerLogs/a/b/%zz"}) {
    const auto request = parse_log_request(target, kNow);
    ASSERT_FALSE(request.has_value()) << target;
    EXPECT_EQ(request.error().code, ErrorCode::NotFound) << target;
  }
  for (const char* query :
       {"tailLines=x", "tailLines=-1", "limitBytes=", "sinceTime=noon", "a=%z"}) {
    const auto request = parse_log_request(std::string("/containerLogs/a/b/c?") + query, kNow);
    ASSERT_FALSE(request.has_value()) << query;
    EXPECT_EQ(request.error().code, ErrorCode::BadRequest) << query;
  }
}

TEST_F(NodeTest, ServesLogsAsTheKubeletDoes) {
  start();
  const auto uid = create(PodBuilder("p").restart("Never").container("main", "run 5 0"));
  loop.run_for(1s);
  std::ofstream(runtime.log_path("", "", uid, "main", 0))
      << "2026-11-15T03:04:05Z stdout F hello\n";
  LogEndpoint endpoint(loop, agent->logs(),
                       [this](const api::ObjectKey& key) { return agent->find_pod(key); });
  const auto ask = [&](const char* target) {
    const net::HttpRequest request{.target = target};
    auto responder = std::make_unique<FakeResponder>();
    loop.run(endpoint.handle(request, *responder));
    return responder;
  };
  auto answer = ask("/containerLogs/default/p/main?follow=true");
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "hello\n");
  EXPECT_TRUE(answer->finished);
  EXPECT_EQ(phase("p"), "Succeeded") << "followed to the end";
  EXPECT_EQ(ask("/containerLogs/default/none/main")->status, 404);
  EXPECT_EQ(ask("/exec")->status, 404);
}

}  // namespace
}  // namespace muster::node
