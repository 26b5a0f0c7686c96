#include "node/exec/exec_endpoint.h"

#include "unit/node/fake_responder.h"
#include "unit/node/fixture.h"

namespace muster::node {
namespace {

TEST(ExecRequestTest, ReadsWhatTheApiServerSends) {
  const auto request =
      parse_exec_request("/exec/default/p/main?command=sh&command=-c&input=1&output=1&tty=1");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->pod.text(), "default/p");
  EXPECT_EQ(request->options.container, "main");
  EXPECT_EQ(request->options.command, (std::vector<std::string>{"sh", "-c"}));
  EXPECT_TRUE(request->options.input && request->options.output && request->options.terminal);
  for (const char* other : {"/exec/default/p?command=ls&output=1", "/exec//p/main?command=ls",
                            "/exec/default/p/u/main?command=ls", "/run/default/p/main?command=ls",
                            "/exec/default/a%2fb/main?command=ls&output=1"}) {
    EXPECT_EQ(parse_exec_request(other).error().code, ErrorCode::NotFound) << other;
  }
  EXPECT_EQ(parse_exec_request("/exec/default/p/main?output=1").error().code,
            ErrorCode::BadRequest);
}

// Everything that is not exec.
class Others final : public net::HttpHandler {
 public:
  Task<void> handle(const net::HttpRequest&, net::Responder& responder) override {
    [[maybe_unused]] const auto sent = co_await responder.respond({.body = "others"});
  }
};

TEST_F(NodeTest, RefusesAnExecThatCannotBeAsAStatus) {
  start();
  create(PodBuilder("p").restart("Never").container("main", "run 500 0"));
  loop.run_for(1s);
  Others others;
  SeededRng random(1);
  ExecEndpoint endpoint(
      loop, random, agent->programs(),
      [this](const api::ObjectKey& key) { return agent->find_pod(key); }, others);
  const auto ask = [&](std::string target, net::Headers headers = {}, std::string method = "GET") {
    const net::HttpRequest request{
        .method = std::move(method), .target = std::move(target), .headers = std::move(headers)};
    FakeResponder responder;
    loop.run(endpoint.handle(request, responder));
    return fmt::format("{} {}", responder.status,
                       responder.body.starts_with('{')
                           ? parse(responder.body)["message"].as_string()
                           : responder.body);
  };
  const std::string good = "/exec/default/p/main?command=ls&output=1";
  EXPECT_EQ(ask("/containerLogs/default/p/main"), "200 others");
  EXPECT_EQ(ask("/exec/default/q/main?command=ls&output=1"), "404 pod does not exist");
  EXPECT_EQ(ask("/exec/default/p/other?command=ls&output=1"),
            "400 container other is not valid for pod p, choose one of: [main]");
  EXPECT_EQ(ask(good), "400 Upgrade request required");
  EXPECT_EQ(ask(good, {}, "DELETE"), "405 only GET and POST are known here");
  const auto spdy = ask(good, {{"Connection", "Upgrade"}, {"Upgrade", "SPDY/3.1"}}, "POST");
  EXPECT_TRUE(spdy.contains("400 this node serves exec over WebSocket only")) << spdy;
  EXPECT_TRUE(spdy.contains("API servers before 1.36 speak SPDY to nodes")) << spdy;
  for (const auto& line : runtime.history) EXPECT_FALSE(line.contains("session")) << line;
}

}  // namespace
}  // namespace muster::node
